/**
 * `/invitations/{token}`: what the link of an invitation shows in a browser. A form and no script; looking changes nothing.
 * Its address is a secret, so the page tells it to no other site, and no cache keeps it.
 */
import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { passwordLengthMax, passwordLengthMin, type Actor } from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import { openInvitation, type OpenInvitation } from "../../tenancy/index.ts";
import type { HttpServices } from "../services.ts";
import { accept, signedInActor } from "./invitation-routes.ts";
import { checkSameOrigin } from "./same-origin.ts";
import { passCookies } from "./session-answer.ts";

const style = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 30rem; margin: 4rem auto; padding: 0 1rem }
label, input, button { display: block; font: inherit; width: 100%; box-sizing: border-box }
input, button { margin: .25rem 0 1rem; padding: .5rem }
.refused { border-left: 4px solid #b00020; padding-left: .75rem }`;

const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => escapes[sign]!);

/** A page whose parts are HTML already. */
function show(reply: FastifyReply, status: number, title: string, parts: readonly string[]) {
  return reply
    .code(status)
    .headers({
      "content-security-policy": contentSecurityPolicy,
      // `no-referrer` would also take the Origin header from our own form.
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      "x-robots-tag": "noindex",
      "x-request-id": reply.request.id,
    })
    .type("text/html; charset=utf-8").send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<h1>${title}</h1>
${parts.join("\n")}
</body>
</html>
`);
}

const placeOf = ({ workspaceName, organizationName }: OpenInvitation): string =>
  escape(organizationName === null ? workspaceName : `${workspaceName} of ${organizationName}`);

const joinForm = (actor: Actor): string => `<form method="post">
<input type="hidden" name="as" value="session">
<button>Join as ${escape(actor.name)}</button>
</form>`;

const passwordForm = `<form method="post">
<label>Your name (optional)<input name="name" maxlength="200" autocomplete="name"></label>
<label>Password<input type="password" name="password" required minlength="${passwordLengthMin}" maxlength="${passwordLengthMax}"
autocomplete="new-password"></label>
<button>Join</button>
</form>
<p>Choose a password of at least ${passwordLengthMin} characters. If you have an account with this e-mail address here, its
password joins you with that account.</p>`;

async function showForm(
  services: HttpServices,
  request: FastifyRequest<{ Params: { token: string } }>,
  reply: FastifyReply,
  refused?: GatewayError,
): Promise<FastifyReply> {
  const found = await openInvitation(services.admin, request.params.token);
  const actor = await signedInActor(services, request).catch(() => undefined);
  return show(reply, refused?.status ?? 200, "Invitation", [
    ...(refused === undefined ? [] : [`<p class="refused">${escape(refused.message)}</p>`]),
    `<p>You are invited to <strong>${placeOf(found)}</strong> as ${escape(found.email)}.</p>`,
    ...(actor === undefined ? [] : [joinForm(actor), "<p>Or with another account:</p>"]),
    passwordForm,
  ]);
}

/** Errors as pages; what is not a refusal goes the way of all errors. */
function showRefusal(reply: FastifyReply, error: unknown): FastifyReply {
  if (!(error instanceof GatewayError)) throw error;
  return show(reply, error.status, "Invitation", [
    `<p class="refused">${escape(error.message)}</p>`,
  ]);
}

const formBytesMax = 16_384;

/** Adds the page. Its form is the only body that is not JSON, hence a scope of its own. */
export function registerInvitationPage(app: FastifyInstance, services: HttpServices): void {
  void app.register((scope, _options, registered) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: formBytesMax },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    scope.get<{ Params: { token: string } }>("/invitations/:token", (request, reply) =>
      showForm(services, request, reply).catch((error: unknown) => showRefusal(reply, error)),
    );
    scope.post<{ Params: { token: string } }>("/invitations/:token", (request, reply) =>
      take(services, request, reply).catch((error: unknown) => showRefusal(reply, error)),
    );
    registered();
  });
}

async function take(
  services: HttpServices,
  request: FastifyRequest<{ Params: { token: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  checkSameOrigin(request.method, request.headers);
  const { token } = request.params;
  const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
  const asSession = form.get("as") === "session";
  const found = await openInvitation(services.admin, token);
  try {
    const { session } = await accept(services, request, {
      token,
      password: asSession ? undefined : (form.get("password") ?? undefined),
      name: asSession ? undefined : form.get("name") || undefined,
    });
    if (session !== undefined) passCookies(reply, session);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return showForm(services, request, reply, error);
  }
  return show(reply, 200, "Welcome", [
    `<p>You are a member of <strong>${placeOf(found)}</strong> now.</p>`,
  ]);
}
