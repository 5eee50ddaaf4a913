/** `/auth` in the OpenAPI document: console sessions. contract.md "Sessions and tokens". */
import { Type } from "typebox";
import type { ErrorCode } from "../../base/errors.ts";
import {
  orNull,
  requestBody,
  timestamp,
  type Node,
  type Operation,
  type Part,
} from "./document.ts";
import { errorResponses } from "./errors.ts";

/** The library that keeps sessions answers its own refusals in its own shape. */
const refusal: Node = {
  description: "Refused. `code` says why; the shape is that of the library that keeps sessions.",
  content: {
    "application/json": {
      schema: Type.Object({ code: Type.Optional(Type.String()), message: Type.String() }),
    },
  },
};

const done = (description: string, schema: object): Node => ({
  description,
  content: { "application/json": { schema } },
});

const user = Type.Object({ id: Type.String(), email: Type.String(), name: Type.String() });

const writing: readonly ErrorCode[] = [
  "invalid_json",
  "missing_required_parameter",
  "unknown_parameter",
  "invalid_type",
  "cross_origin_request",
];

const operation = (
  one: Pick<Operation, "operationId" | "summary" | "description" | "responses"> &
    Partial<Operation>,
): Operation => ({ tags: ["Sessions"], security: [], ...one });

const signIn = operation({
  operationId: "signIn",
  summary: "Sign in to the console",
  description:
    "Sets the session's cookie, which opens `/admin/v1` with the user's role. After ten failures in five minutes an account is closed for the rest of them.",
  requestBody: requestBody({
    schema: "SignInRequest",
    examples: {
      plain: { value: { email: "admin@tollgate.localhost", password: "the one-time password" } },
    },
  }),
  responses: {
    200: done("Signed in.", Type.Object({ token: Type.String(), user })),
    401: refusal,
    ...errorResponses("chat", [...writing, "too_many_attempts"]),
  },
});

const signOut = operation({
  operationId: "signOut",
  summary: "End the session",
  description: "The session ends, and its cookie is taken back.",
  responses: {
    200: done("Signed out.", Type.Object({ success: Type.Boolean() })),
    ...errorResponses("chat", ["cross_origin_request"]),
  },
});

const session = operation({
  operationId: "getSession",
  summary: "The session of the cookie",
  description: "`null` without one.",
  responses: {
    200: done(
      "The session.",
      orNull(Type.Object({ session: Type.Object({ expiresAt: timestamp("Its end.") }), user })),
    ),
  },
});

const changePassword = operation({
  operationId: "changePassword",
  summary: "Change your password",
  description: "All other sessions of yours end.",
  requestBody: requestBody({
    schema: "ChangePasswordRequest",
    examples: {
      plain: { value: { currentPassword: "the one-time password", newPassword: "a better one" } },
    },
  }),
  responses: {
    200: done("Changed.", Type.Object({ user })),
    401: refusal,
    ...errorResponses("chat", writing),
  },
});

const oidc = operation({
  operationId: "signInWithProvider",
  summary: "Sign in with the configured identity provider",
  description:
    "Where `console.oidc` is configured. Answers with the address to send the browser to. Users are added as members first: the provider says who somebody is, not that they belong here.",
  requestBody: requestBody({
    schema: "SignInWithProviderRequest",
    examples: { plain: { value: { provider: "oidc" } } },
  }),
  responses: {
    200: done("Go there.", Type.Object({ url: Type.String(), redirect: Type.Boolean() })),
    404: refusal,
    ...errorResponses("chat", writing),
  },
});

const callback = operation({
  operationId: "signInCallback",
  summary: "Where the identity provider sends the browser back to",
  description: "Sets the session's cookie and goes on to the console.",
  responses: { 302: { description: "To the console, or to `/?error=...`." } },
});

const text = (description?: string) =>
  Type.String({ minLength: 1, ...(description && { description }) });

export const auth: Part = {
  paths: {
    "/auth/sign-in/email": { post: signIn },
    "/auth/sign-in/social": { post: oidc },
    "/auth/sign-out": { post: signOut },
    "/auth/change-password": { post: changePassword },
    "/auth/get-session": { get: session },
    "/auth/callback/oidc": { get: callback },
  },
  schemas: {
    SignInRequest: Type.Object({
      email: text(),
      password: text(),
      rememberMe: Type.Optional(Type.Boolean({ description: "false: until the browser closes." })),
    }),
    ChangePasswordRequest: Type.Object({
      currentPassword: text(),
      newPassword: text("At least ten characters."),
    }),
    SignInWithProviderRequest: Type.Object({ provider: Type.Literal("oidc") }),
  },
};
