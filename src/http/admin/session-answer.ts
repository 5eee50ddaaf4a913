/** Connects requests with the session library: the headers that it gets, and its answers. */
import type { FastifyReply, FastifyRequest } from "fastify";
import {
  browserCookie,
  cookiePrefix,
  type PasswordOwner,
  type SignedIn,
} from "../../admin/index.ts";
import { limitedAddress } from "../../base/client-address.ts";
import { addressOf } from "../client-address.ts";
import type { AdminServices, HttpServices } from "../services.ts";

/** The address that sign-in attempts are limited by; undefined if it has no limit. */
export const attemptAddress = (
  { trustedProxies }: HttpServices,
  request: FastifyRequest,
): string | undefined => limitedAddress(addressOf(request.raw, trustedProxies), trustedProxies);

const passedOn = ["cookie", "user-agent"] as const;

/** Characters of the user agent that a session keeps. */
const userAgentMax = 200;

/** The headers for the session library, with the client's address, which a client cannot forge. */
export function sessionHeaders({ trustedProxies }: HttpServices, request: FastifyRequest): Headers {
  const headers = new Headers({ "x-forwarded-for": addressOf(request.raw, trustedProxies) });
  for (const name of passedOn) {
    const value = request.headers[name];
    if (value === undefined) continue;
    headers.set(name, name === "user-agent" ? value.slice(0, userAgentMax) : value);
  }
  return headers;
}

/** Returns the session of a request's cookie; undefined without a valid one. */
export async function sessionOf(
  { sessions }: AdminServices,
  { headers: { cookie } }: FastifyRequest,
): Promise<SignedIn | undefined> {
  if (cookie === undefined || !cookie.includes(cookiePrefix)) return undefined;
  return sessions.userOf(new Headers({ cookie }));
}

/**
 * Opens a session for a user who has just entered or chosen a password. Marks the browser as known to this user, unless the user asked
 * to be forgotten or someone else also knows the password.
 * @throws GatewayError `invalid_credential` if the password has changed since
 */
export async function openSession(
  services: HttpServices,
  request: FastifyRequest,
  signedIn: SignedIn & PasswordOwner & { readonly remember?: boolean | undefined },
): Promise<Response> {
  const { userId, hash, passwordChangeRequired, remember = true } = signedIn;
  const headers = sessionHeaders(services, request);
  const { admin } = services;
  const opening = { userId, hash, passwordChangeRequired, remember };
  const answer = await admin.sessions.open(opening, headers);
  if (passwordChangeRequired || !remember) return answer;
  const secure = admin.publicUrl().startsWith("https:");
  const cookie = await browserCookie(admin, { userId, secure });
  if (cookie !== undefined) answer.headers.append("set-cookie", cookie);
  return answer;
}

/**
 * Passes on the cookies of an answer. The Origin header shows that a browser came over HTTPS: then its cookies get `Secure`. This also
 * works if a proxy terminated TLS and the public address is not configured.
 */
export function passCookies(reply: FastifyReply, response: Response): void {
  for (const cookie of response.headers.getSetCookie()) {
    const lacksSecure =
      reply.request.headers.origin?.startsWith("https://") === true && !/;\s*secure/i.test(cookie);
    reply.header("set-cookie", lacksSecure ? `${cookie}; Secure` : cookie);
  }
}

/** Forbids caching: answers to administrators may hold secrets. */
export const prepare = (reply: FastifyReply): FastifyReply =>
  reply.header("cache-control", "no-store");

/** Passes on an answer of the session library, with only the headers that clients need. */
export async function passAnswer(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  prepare(reply).code(response.status);
  for (const name of ["content-type", "location"]) {
    const value = response.headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  passCookies(reply, response);
  return reply.send(await response.text());
}
