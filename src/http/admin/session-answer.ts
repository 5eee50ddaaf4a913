/** Between a request and what keeps sessions: the headers that they get, and their answers. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { browserCookie, cookiePrefix, type SignedIn } from "../../admin/index.ts";
import { limitedAddress } from "../../base/client-address.ts";
import { addressOf } from "../client-address.ts";
import type { AdminServices, HttpServices } from "../services.ts";

/** Where a request comes from, as sign-ins are limited by; undefined where no limit by address holds. */
export const attemptAddress = (
  { trustedProxies }: HttpServices,
  request: FastifyRequest,
): string | undefined => limitedAddress(addressOf(request.raw, trustedProxies), trustedProxies);

const passedOn = ["cookie", "user-agent"] as const;

/** What a session keeps of a program's own words about itself, in characters. */
const userAgentMax = 200;

/** The headers of a request, and where it came from, which nobody else can set. */
export function sessionHeaders({ trustedProxies }: HttpServices, request: FastifyRequest): Headers {
  const headers = new Headers({ "x-forwarded-for": addressOf(request.raw, trustedProxies) });
  for (const name of passedOn) {
    const value = request.headers[name];
    if (value === undefined) continue;
    headers.set(name, name === "user-agent" ? value.slice(0, userAgentMax) : value);
  }
  return headers;
}

/** The session of a request's cookie; undefined without a good one. */
export async function sessionOf(
  { sessions }: AdminServices,
  { headers: { cookie } }: FastifyRequest,
): Promise<SignedIn | undefined> {
  if (cookie === undefined || !cookie.includes(cookiePrefix)) return undefined;
  return sessions.userOf(new Headers({ cookie }));
}

/**
 * Opens a session for a user who has just given or chosen their password. Their browser is known from now on, unless it is to
 * forget them or somebody else knows the password.
 */
export async function openSession(
  services: HttpServices,
  request: FastifyRequest,
  signedIn: SignedIn & { readonly remember?: boolean | undefined },
): Promise<Response> {
  const { userId, passwordChangeRequired, remember = true } = signedIn;
  const headers = sessionHeaders(services, request);
  const { admin } = services;
  const answer = await admin.sessions.open({ userId, passwordChangeRequired, remember }, headers);
  if (passwordChangeRequired || !remember) return answer;
  const secure = admin.publicUrl().startsWith("https:");
  const cookie = await browserCookie(admin, { userId, secure });
  if (cookie !== undefined) answer.headers.append("set-cookie", cookie);
  return answer;
}

/**
 * The cookies of an answer. A browser that came over HTTPS says so with what it sends: its cookies go over nothing else, also
 * where a proxy in front took TLS off and nobody told us our public address.
 */
export function passCookies(reply: FastifyReply, response: Response): void {
  for (const cookie of response.headers.getSetCookie()) {
    const lacksSecure =
      reply.request.headers.origin?.startsWith("https://") === true && !/;\s*secure/i.test(cookie);
    reply.header("set-cookie", lacksSecure ? `${cookie}; Secure` : cookie);
  }
}

/** What an administrator reads may hold secrets: no cache between keeps it. */
export const prepare = (reply: FastifyReply): FastifyReply =>
  reply.header("cache-control", "no-store");

/** An answer as it came, but for headers that are nobody's. */
export async function passAnswer(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  prepare(reply).code(response.status);
  for (const name of ["content-type", "location"]) {
    const value = response.headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  passCookies(reply, response);
  return reply.send(await response.text());
}
