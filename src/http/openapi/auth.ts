/** `/auth` in the OpenAPI document: console sessions. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import { orNull, timestamp } from "../shapes/schema.ts";
import { authBodies } from "../admin/index.ts";
import { authLinks } from "./auth-links.ts";
import { done, failing, operation, signedIn, writing } from "./auth-parts.ts";
import { requestBody, type Node, type Part } from "./document.ts";
import { errorResponses } from "./errors.ts";

/** The session library returns its own errors in its own shape. */
const refusal: Node = {
  description: "Refused. `code` says why. The shape is that of the session library.",
  content: {
    "application/json": {
      schema: Type.Object({ code: Type.Optional(Type.String()), message: Type.String() }),
    },
  },
};

const signIn = operation({
  operationId: "signIn",
  summary: "Sign in to the console",
  description:
    "Sets the session's cookie, which gives access to `/admin/v1` with the user's role. After ten failures in five minutes an account takes no sign-ins until the five minutes are over. A one-time password works once, and its session may only change the password.",
  requestBody: requestBody({
    schema: "SignInRequest",
    examples: {
      plain: { value: { email: "admin@tollgate.localhost", password: "the one-time password" } },
    },
  }),
  responses: {
    200: signedIn("Signed in."),
    ...errorResponses("chat", [...writing, "invalid_credential", "too_many_attempts"]),
  },
});

const options = operation({
  operationId: "getSignInOptions",
  summary: "The ways to sign in",
  description: "For the console's first page. Has nothing that identifies the installation.",
  responses: {
    200: done(
      "The ways.",
      Type.Object({
        password: Type.Boolean(),
        oidc: orNull(
          Type.Object({ label: Type.String({ description: "The identity provider's host." }) }),
        ),
      }),
    ),
  },
});

const signOut = operation({
  operationId: "signOut",
  summary: "End the session",
  description: "Ends the session and deletes its cookie.",
  responses: {
    200: done("Signed out.", Type.Object({ success: Type.Boolean() })),
    ...errorResponses("chat", ["cross_origin_request", ...failing]),
  },
});

const user = Type.Object({ id: Type.String(), email: Type.String(), name: Type.String() });

const session = operation({
  operationId: "getSession",
  summary: "The session of the cookie",
  description: "`null` without one.",
  responses: {
    200: done(
      "The session.",
      orNull(Type.Object({ session: Type.Object({ expiresAt: timestamp("Its end.") }), user })),
    ),
    ...errorResponses("chat", ["password_change_required", ...failing]),
  },
});

const changePassword = operation({
  operationId: "changePassword",
  summary: "Change your password",
  description:
    "Ends all your other sessions, and your personal tokens unless `keep_tokens` is true. The answer sets the cookie of a new session. With a one-time password this accepts the invitation. A wrong `currentPassword` counts like a failed sign-in.",
  requestBody: requestBody({
    schema: "ChangePasswordRequest",
    examples: {
      plain: { value: { currentPassword: "the one-time password", newPassword: "a better one" } },
    },
  }),
  responses: {
    200: signedIn("Changed."),
    ...errorResponses("chat", [...writing, "missing_credential", "conflict", "too_many_attempts"]),
  },
});

const oidc = operation({
  operationId: "signInWithProvider",
  summary: "Sign in with the configured identity provider",
  description:
    "Requires `console.oidc` in the configuration. The answer has the address to which to send the browser. Add users as members first: the provider identifies people, but gives no membership.",
  requestBody: requestBody({
    schema: "SignInWithProviderRequest",
    examples: { plain: { value: { provider: "oidc" } } },
  }),
  responses: {
    200: done("Go there.", Type.Object({ url: Type.String(), redirect: Type.Boolean() })),
    404: refusal,
    ...errorResponses("chat", [...writing, "upstream_timeout"]),
  },
});

const callback = operation({
  operationId: "signInCallback",
  summary: "Return from the identity provider",
  description: "Sets the session's cookie and redirects to the console.",
  responses: {
    302: { description: "To the console, or to `/?error=...`." },
    ...errorResponses("chat", ["upstream_timeout", ...failing]),
  },
});

export const auth: Part = {
  paths: {
    "/auth/options": { get: options },
    "/auth/sign-in/email": { post: signIn },
    "/auth/sign-in/social": { post: oidc },
    "/auth/sign-out": { post: signOut },
    "/auth/change-password": { post: changePassword },
    ...authLinks,
    "/auth/get-session": { get: session },
    "/auth/callback/oidc": { get: callback },
  },
  schemas: authBodies,
};
