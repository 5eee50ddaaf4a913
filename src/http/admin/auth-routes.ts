/**
 * `/auth`: signing in and out of the console, passwords, invitations, OIDC. docs/management.md. Only the requests and fields that the
 * console needs reach better-auth: its other paths stay closed.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { HttpServices } from "../services.ts";
import { readAuthBody } from "./auth-bodies.ts";
import { registerPasswords } from "./auth-passwords.ts";
import { registerInvitations } from "./invitation-routes.ts";
import { registerPasswordResets } from "./password-resets.ts";
import { checkSameOrigin } from "./same-origin.ts";
import { passAnswer, sessionHeaders, sessionOf, prepare } from "./session-answer.ts";

export function registerAuth(app: FastifyInstance, services: HttpServices): void {
  registerPasswords(app, services);
  registerInvitations(app, services);
  registerPasswordResets(app, services);
  app.get("/auth/options", (_request, reply) => {
    const { provider } = services.admin.sessions;
    return prepare(reply).send({
      password: true,
      oidc: provider === null ? null : { label: provider },
    });
  });
  app.post("/auth/sign-in/social", async (request, reply) => {
    const fields = await readAuthBody("SignInWithProviderRequest", request);
    const body = { ...fields, callbackURL: "/", errorCallbackURL: "/" };
    const asked = libraryRequest(services, request, body);
    return passAnswer(reply, await services.admin.sessions.signIn(asked));
  });
  app.post("/auth/sign-out", async (request, reply) => {
    checkSameOrigin(request.method, request.headers);
    return pass(services, request, reply, {});
  });
  app.get("/auth/get-session", async (request, reply) => {
    const session = await sessionOf(services.admin, request);
    // This refuses a session that may only change the password.
    if (session !== undefined) await services.admin.actors.ofSession(session);
    return pass(services, request, reply, undefined);
  });
  app.get("/auth/callback/oidc", async (request, reply) => {
    const asked = libraryRequest(services, request, undefined);
    return passAnswer(reply, await services.admin.sessions.signIn(asked));
  });
}

/** Builds the request for better-auth. */
function libraryRequest(
  services: HttpServices,
  request: FastifyRequest,
  body: object | undefined,
): Request {
  const headers = sessionHeaders(services, request);
  if (body !== undefined) headers.set("content-type", "application/json");
  // Use only the path and query: a target may name another origin, even with a password, which `Request` does not accept.
  const [, ...query] = (request.raw.url ?? "").split(/(?=\?)/);
  const url = new URL(request.match.path + query.join(""), services.admin.publicUrl());
  const { method } = request;
  return new Request(url, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function pass(
  services: HttpServices,
  request: FastifyRequest,
  reply: FastifyReply,
  body: object | undefined,
): Promise<FastifyReply> {
  const asked = libraryRequest(services, request, body);
  return passAnswer(reply, await services.admin.sessions.handle(asked));
}
