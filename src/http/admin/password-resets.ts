/** Password reset links: making one for a member over the management API, and using it. */
import type { FastifyInstance } from "fastify";
import { Type } from "../../base/json-schema.ts";
import { createPasswordReset, readPasswordReset, redeemPasswordReset } from "../../admin/index.ts";
import { timestamp } from "../shapes/schema.ts";
import type { HttpServices } from "../services.ts";
import { readAuthBody } from "./auth-bodies.ts";
import { route } from "./route.ts";
import { openSession, passAnswer, prepare } from "./session-answer.ts";

const make = route({
  method: "POST",
  path: "/workspaces/{id}/members/{user_id}/reset_password",
  operationId: "resetMemberPassword",
  summary: "Make a password link for a member",
  description:
    "With the link the member chooses a new password, once, within a day. The old password works until then. You may make a link for members all of whose workspaces you administer; an organization admin may make one for everyone. A new link replaces the old one. The link also ends when the password changes, or when you no longer administer the member.",
  action: "member.reset_password",
  answer: {
    name: "PasswordResetMade",
    schema: Type.Object({
      object: Type.Literal("password_reset"),
      user_id: Type.String(),
      url: Type.String({ description: "Shown once. Anyone who has it can choose the password." }),
      expires_at: timestamp("When it stops working."),
    }),
  },
  status: 201,
  errors: ["not_found", "insufficient_permissions", "conflict"],
  async handle(request) {
    const { services, params } = request;
    const reference = { workspaceId: params["id"]!, userId: params["user_id"]! };
    const { userId, token, expiresAt } = await createPasswordReset(services, request, reference);
    const url = new URL("/reset", services.publicUrl());
    // The token is after the `#`, which no browser sends: no log has it.
    url.hash = token;
    return {
      body: {
        object: "password_reset",
        user_id: userId,
        url: url.href,
        expires_at: expiresAt.toISOString(),
      },
    };
  },
});

export const passwordResetRoutes = [make];

/** Adds the paths below `/auth`. */
export function registerPasswordResets(app: FastifyInstance, services: HttpServices): void {
  app.post("/auth/password-resets/read", async (request, reply) => {
    const { token } = await readAuthBody("ReadPasswordResetRequest", request);
    const { email, expiresAt } = await readPasswordReset(services.admin, token);
    return prepare(reply).send({
      object: "password_reset",
      email,
      expires_at: expiresAt.toISOString(),
    });
  });
  app.post("/auth/password-resets/use", async (request, reply) => {
    const sent = await readAuthBody("ResetPasswordRequest", request);
    const owner = await redeemPasswordReset(services.admin, { ...sent, requestId: request.id });
    const opened = { ...owner, passwordChangeRequired: false };
    return passAnswer(reply, await openSession(services, request, opened));
  });
}
