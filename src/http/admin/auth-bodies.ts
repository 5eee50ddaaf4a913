/** The bodies of `/auth`: one schema checks a body, gives its type, and describes it in the OpenAPI document. */
import type { FastifyRequest } from "fastify";
import { Type, type Static } from "../../base/json-schema.ts";
import { passwordLengthMax, passwordLengthMin } from "../../tenancy/index.ts";
import { readBody } from "../bodies/body.ts";
import { checker } from "./check.ts";
import { checkSameOrigin } from "./same-origin.ts";
import { strict } from "./schemas.ts";

const password = Type.String({ minLength: 1, maxLength: passwordLengthMax });
/** A newly chosen password. */
const newPassword = Type.String({ minLength: passwordLengthMin, maxLength: passwordLengthMax });
const token = Type.String({ maxLength: 100, description: "The last part of the link." });

/** The schemas by their names in the document. */
export const authBodies = {
  SignInRequest: strict({
    email: Type.String({ minLength: 1, maxLength: 254 }),
    password,
    rememberMe: Type.Optional(
      Type.Boolean({ description: "false: the session ends when the browser closes." }),
    ),
  }),
  ChangePasswordRequest: strict({
    currentPassword: password,
    newPassword,
    keep_tokens: Type.Optional(
      Type.Boolean({ description: "false: personal tokens are revoked." }),
    ),
  }),
  SignInWithProviderRequest: strict({ provider: Type.Literal("oidc") }),
  ReadInvitationRequest: strict({ token }),
  AcceptInvitationRequest: strict({
    token,
    password: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: passwordLengthMax,
        description: `That of your account with this address, or a new one of at least ${passwordLengthMin} characters. Absent: you are signed in.`,
      }),
    ),
    name: Type.Optional(Type.String({ maxLength: 200 })),
  }),
  ReadPasswordResetRequest: strict({ token }),
  ResetPasswordRequest: strict({ token, password: newPassword }),
};

type AuthBody = keyof typeof authBodies;

const checks = Object.fromEntries(
  Object.entries(authBodies).map(([name, schema]) => [name, checker(schema)]),
) as Record<AuthBody, ReturnType<typeof checker>>;

/** Returns the checked body of a request from our own pages. @throws GatewayError naming the field */
export async function readAuthBody<Name extends AuthBody>(
  name: Name,
  request: FastifyRequest,
): Promise<Static<(typeof authBodies)[Name]>> {
  checkSameOrigin(request.method, request.headers);
  const body = await readBody(request);
  checks[name](body);
  return body as Static<(typeof authBodies)[Name]>;
}
