/**
 * `/auth`: signing in and out of the console, changing a password, OIDC. contract.md "Sessions and tokens".
 * Only what the console needs is let through to better-auth, with the fields it needs: its other paths stay closed.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type, type TObject } from "typebox";
import { passwordLengthMax } from "../../admin/index.ts";
import { readBody } from "../body.ts";
import type { HttpServices } from "../services.ts";
import { checker } from "./check.ts";
import { checkSameOrigin } from "./same-origin.ts";
import { strict } from "./schemas.ts";

const password = Type.String({ minLength: 1, maxLength: passwordLengthMax });

const bodies = {
  "/auth/sign-in/email": strict({
    email: Type.String({ minLength: 1, maxLength: 254 }),
    password,
    rememberMe: Type.Optional(Type.Boolean()),
  }),
  "/auth/change-password": strict({ currentPassword: password, newPassword: password }),
  "/auth/sign-in/social": strict({ provider: Type.Literal("oidc") }),
  "/auth/sign-out": undefined,
} as const;

/** What we add to what the caller sent. */
const added: Readonly<Record<string, object>> = {
  // Whoever knew the old password is signed out everywhere.
  "/auth/change-password": { revokeOtherSessions: true },
  "/auth/sign-in/social": { callbackURL: "/", errorCallbackURL: "/" },
};

/** Adds the paths. */
export function registerAuth(app: FastifyInstance, services: HttpServices): void {
  for (const [path, body] of Object.entries(bodies)) registerPost(app, services, { path, body });
  for (const path of ["/auth/get-session", "/auth/callback/oidc"]) {
    app.get(path, async (request, reply) => pass(services, request, reply, undefined));
  }
}

interface Post {
  readonly path: string;
  readonly body: TObject | undefined;
}

function registerPost(app: FastifyInstance, services: HttpServices, { path, body }: Post): void {
  const check = body && checker(body);
  app.post(path, async (request, reply) => {
    checkSameOrigin(request.method, request.headers);
    const fields = check === undefined ? {} : readBody(request);
    check?.(fields);
    const sent = JSON.stringify({ ...fields, ...added[path] });
    if (path !== "/auth/sign-in/email") return pass(services, request, reply, sent);
    const attempt = { address: request.ip, email: fields["email"] as string };
    await services.admin.throttle.begin(attempt);
    const response = await ask(services, request, sent);
    if (response.ok) await services.admin.throttle.succeeded(attempt);
    return answer(reply, response);
  });
}

async function pass(
  services: HttpServices,
  request: FastifyRequest,
  reply: FastifyReply,
  body: string | undefined,
): Promise<FastifyReply> {
  return answer(reply, await ask(services, request, body));
}

/** The headers that better-auth is told. */
const told = ["cookie", "user-agent"] as const;

function ask(
  services: HttpServices,
  request: FastifyRequest,
  body: string | undefined,
): Promise<Response> {
  const headers = new Headers(body === undefined ? {} : { "content-type": "application/json" });
  for (const name of told) {
    const value = request.headers[name];
    if (value !== undefined) headers.set(name, value);
  }
  // Our own, which nobody else can set: where the request came from.
  headers.set("x-forwarded-for", request.ip);
  const url = new URL(request.raw.url ?? "/", services.admin.publicUrl());
  return services.admin.sessions.handle(
    new Request(url, { method: request.method, headers, ...(body !== undefined && { body }) }),
  );
}

async function answer(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  reply.code(response.status).header("cache-control", "no-store");
  reply.header("x-request-id", reply.request.id);
  for (const name of ["content-type", "location"]) {
    const value = response.headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  for (const cookie of response.headers.getSetCookie()) reply.header("set-cookie", cookie);
  return reply.send(await response.text());
}
