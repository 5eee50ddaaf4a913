/** `/auth`: signing in with a password, and changing it. docs/management.md. */
import type { FastifyInstance } from "fastify";
import { changePassword, signIn } from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import { addressOf } from "../client-address.ts";
import type { HttpServices } from "../services.ts";
import { readAuthBody } from "./auth-bodies.ts";
import { checkSameOrigin } from "./same-origin.ts";
import { attemptAddress, openSession, passAnswer, sessionOf } from "./session-answer.ts";

export function registerPasswords(app: FastifyInstance, services: HttpServices): void {
  const { admin } = services;
  app.post("/auth/sign-in/email", async (request, reply) => {
    const { email, password, rememberMe } = await readAuthBody("SignInRequest", request);
    const address = attemptAddress(services, request);
    const requestId = request.id;
    const { cookie } = request.headers;
    const sent = { email, password, address, cookie, requestId };
    const signedIn = await signIn(admin, sent).catch((error: unknown) => {
      const from = addressOf(request.raw, services.trustedProxies);
      if (error instanceof GatewayError && error.status === 401)
        services.log.warn({ request: requestId, address: from }, "a sign-in failed");
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
    const body = await readAuthBody("ChangePasswordRequest", request);
    const { currentPassword, newPassword, keep_tokens } = body;
    const owner = await changePassword(admin, {
      userId: session.userId,
      currentPassword,
      newPassword,
      keepTokens: keep_tokens === true,
      requestId: request.id,
    });
    const opened = { ...owner, passwordChangeRequired: false };
    return passAnswer(reply, await openSession(services, request, opened));
  });
}
