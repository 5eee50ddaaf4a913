/** `/auth/invitations`: reading and accepting an invitation, and the redirect of old links. docs/management.md. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { acceptInvitation } from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import { openInvitation } from "../../tenancy/index.ts";
import type { HttpServices } from "../services.ts";
import { readAuthBody } from "./auth-bodies.ts";
import { openSession, passCookies, sessionOf, prepare } from "./session-answer.ts";

interface Acceptance {
  readonly token: string;
  readonly password?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Accepts an invitation for the requester, and opens a session if a password was chosen.
 * @throws GatewayError as `acceptInvitation`; `missing_required_parameter` without a password and a session
 */
async function accept(
  services: HttpServices,
  request: FastifyRequest,
  { token, password, name }: Acceptance,
) {
  const { admin } = services;
  const requestId = request.id;
  if (password !== undefined) {
    const by = { password, name };
    const { member, hash } = await acceptInvitation(admin, { token, by, requestId });
    const opened = { userId: member.userId, hash: hash!, passwordChangeRequired: false };
    return { member, session: await openSession(services, request, opened) };
  }
  const session = await sessionOf(admin, request);
  const actor = session && (await admin.actors.ofSession(session));
  if (actor?.userId == null) {
    throw new GatewayError(
      "missing_required_parameter",
      "Send `password` to join with a password, or sign in first to join with your account.",
      { param: "password" },
    );
  }
  const by = { userId: actor.userId, email: actor.name, sessionId: actor.sessionId };
  const { member } = await acceptInvitation(admin, { token, by, requestId });
  return { member, session: undefined };
}

export function registerInvitations(app: FastifyInstance, services: HttpServices): void {
  // Links of earlier versions. The console's page has the token after the `#`, which no browser sends.
  app.get<{ Params: { token: string } }>("/invitations/:token", (request, reply) =>
    reply
      .headers({
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-robots-tag": "noindex",
      })
      .redirect(`/join#${encodeURIComponent(request.params.token)}`),
  );
  // The token is in the body, because logs record paths, such as an access log.
  app.post("/auth/invitations/read", async (request, reply) => {
    const { token } = await readAuthBody("ReadInvitationRequest", request);
    const found = await openInvitation(services.admin, token);
    return prepare(reply).send({
      object: "invitation",
      organization: found.organizationName,
      workspace: found.workspaceName,
    });
  });
  app.post("/auth/invitations/accept", async (request, reply) => {
    const body = await readAuthBody("AcceptInvitationRequest", request);
    const { member, session } = await accept(services, request, body);
    prepare(reply);
    if (session !== undefined) passCookies(reply, session);
    return reply.send({
      object: "member",
      workspace_id: member.workspaceId,
      user_id: member.userId,
      role: member.role,
      status: member.status,
    });
  });
}
