/** Links for one person, in the OpenAPI document: invitations and new passwords. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import { orNull, timestamp } from "../shapes/schema.ts";
import { done, operation, signedIn, writing } from "./auth-parts.ts";
import { requestBody, type Node, type Part } from "./document.ts";
import { errorResponses } from "./errors.ts";

const tokenInPath: Node = {
  name: "token",
  in: "path",
  required: true,
  description: "The last part of the invitation's link.",
  schema: Type.String(),
};

const readInvitation = operation({
  operationId: "getInvitation",
  summary: "Read an invitation",
  description:
    "Answers the names of the organization and the workspace. Reading does not use up the invitation. The token is in the body, because access logs store paths.",
  requestBody: requestBody({
    schema: "ReadInvitationRequest",
    examples: { plain: { value: { token: "gw_inv_..." } } },
  }),
  responses: {
    200: done(
      "It is open.",
      Type.Object({
        object: Type.Literal("invitation"),
        organization: orNull(Type.String()),
        workspace: Type.String(),
      }),
    ),
    ...errorResponses("chat", [...writing, "not_found"]),
  },
});

const acceptInvitation = operation({
  operationId: "acceptInvitation",
  summary: "Accept an invitation",
  description:
    "With `password`: as a new user with that password, or as the existing user with this address and password; the answer sets a session's cookie. Without `password`: as the user who is signed in. An invitation works once.",
  requestBody: requestBody({
    schema: "AcceptInvitationRequest",
    examples: {
      plain: { value: { token: "gw_inv_...", password: "a password of my own", name: "Ada" } },
    },
  }),
  responses: {
    200: done(
      "You are a member.",
      Type.Object({
        object: Type.Literal("member"),
        workspace_id: Type.String(),
        user_id: Type.String(),
        role: Type.String(),
        status: Type.Literal("active"),
      }),
    ),
    ...errorResponses("chat", [
      ...writing,
      "invalid_credential",
      "not_found",
      "conflict",
      "password_change_required",
      "too_many_attempts",
    ]),
  },
});

const readPasswordReset = operation({
  operationId: "getPasswordReset",
  summary: "Read a password link",
  description: "Answers whose password it is for. Reading does not use up the link.",
  requestBody: requestBody({
    schema: "ReadPasswordResetRequest",
    examples: { plain: { value: { token: "gw_pwr_..." } } },
  }),
  responses: {
    200: done(
      "It is open.",
      Type.Object({
        object: Type.Literal("password_reset"),
        email: Type.String(),
        expires_at: timestamp("When it stops working."),
      }),
    ),
    ...errorResponses("chat", [...writing, "not_found"]),
  },
});

const redeemPasswordReset = operation({
  operationId: "resetPassword",
  summary: "Choose a new password with a link",
  description:
    "A link works once. It ends all sessions and personal tokens of the user. The answer sets the cookie of a new session.",
  requestBody: requestBody({
    schema: "ResetPasswordRequest",
    examples: { plain: { value: { token: "gw_pwr_...", password: "a password of my own" } } },
  }),
  responses: {
    200: signedIn("Changed."),
    ...errorResponses("chat", [...writing, "not_found"]),
  },
});

const invitationLink = operation({
  operationId: "showInvitation",
  summary: "Open an old invitation link",
  description:
    "Redirects to the console's page where the invitation is accepted. Current links point there directly.",
  parameters: [tokenInPath],
  responses: { 302: { description: "To `/join#` and the token." } },
});

/** By path. */
export const authLinks: Part["paths"] = {
  "/auth/invitations/read": { post: readInvitation },
  "/auth/invitations/accept": { post: acceptInvitation },
  "/auth/password-resets/read": { post: readPasswordReset },
  "/auth/password-resets/use": { post: redeemPasswordReset },
  "/invitations/{token}": { get: invitationLink },
};
