/** `/auth`: signing in with a password, and changing it. docs/management.md. */
import type { FastifyInstance } from "fastify";
import { Type } from "../../base/json-schema.ts";
import { changePassword, passwordLengthMax, passwordLengthMin, signIn } from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import { readBody } from "../bodies/body.ts";
import { addressOf } from "../client-address.ts";
import type { HttpServices } from "../services.ts";
import { checker } from "./check.ts";
import { checkSameOrigin } from "./same-origin.ts";
import { strict } from "./schemas.ts";
import { attemptAddress, openSession, passAnswer, sessionOf } from "./session-answer.ts";

const password = Type.String({ minLength: 1, maxLength: passwordLengthMax });
/** A password that somebody chooses. */
export const newPassword = Type.String({
  minLength: passwordLengthMin,
  maxLength: passwordLengthMax,
});

const checkSignIn = checker(
  strict({
    email: Type.String({ minLength: 1, maxLength: 254 }),
    password,
    rememberMe: Type.Optional(Type.Boolean()),
  }),
);
interface SignInBody {
  readonly email: string;
  readonly password: string;
  readonly rememberMe?: boolean;
}

const checkChange = checker(
  strict({
    currentPassword: password,
    newPassword,
    keep_tokens: Type.Optional(Type.Boolean()),
  }),
);
interface ChangeBody {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly keep_tokens?: boolean;
}

/** Adds the paths. */
export function registerPasswords(app: FastifyInstance, services: HttpServices): void {
  const { admin } = services;
  app.post("/auth/sign-in/email", async (request, reply) => {
    checkSameOrigin(request.method, request.headers);
    const body = await readBody(request);
    checkSignIn(body);
    const { email, password, rememberMe } = body as unknown as SignInBody;
    const address = attemptAddress(services, request);
    const signedIn = await signIn(admin, { email, password, address }).catch((error: unknown) => {
      const from = addressOf(request.raw, services.trustedProxies);
      if (error instanceof GatewayError && error.status === 401)
        services.log.warn({ request: request.id, address: from }, "a sign-in failed");
      throw error;
    });
    return passAnswer(
      reply,
      await openSession(services, request, { ...signedIn, remember: rememberMe }),
    );
  });
  app.post("/auth/change-password", async (request, reply) => {
    checkSameOrigin(request.method, request.headers);
    const session = await sessionOf(admin, request);
    if (session === undefined) {
      throw new GatewayError("missing_credential", "Sign in to change your password.");
    }
    const body = await readBody(request);
    checkChange(body);
    const { currentPassword, newPassword, keep_tokens } = body as unknown as ChangeBody;
    const { userId } = session;
    await changePassword(admin, {
      userId,
      currentPassword,
      newPassword,
      keepTokens: keep_tokens === true,
      address: attemptAddress(services, request),
      requestId: request.id,
    });
    const opened = { userId, passwordChangeRequired: false };
    return passAnswer(reply, await openSession(services, request, opened));
  });
}
