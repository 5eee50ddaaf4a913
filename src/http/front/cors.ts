/**
 * CORS: calls from pages of other origins (browser SDKs, extensions), for the origins that the operator lists under `cors.origins`.
 * Keys travel in headers that a page must set itself, so shared routes need no cookie. The management API and sign-in use cookies, and
 * are never shared (routes.ts). Fetch Standard, "CORS protocol".
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Routed } from "../exchange.ts";

const methods = "GET, POST, DELETE";
/** Seconds for which a browser may cache a preflight's answer. */
const rememberedSeconds = "600";

/** Response headers that SDKs and callers read; a browser hides all others from a page. */
const exposed = [
  "idempotent-replayed",
  "location",
  "preference-applied",
  "request-id",
  "retry-after",
  "x-gw-cache",
  "x-gw-dropped-params",
  "x-gw-hook-code",
  "x-ratelimit-limit-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-requests",
  "x-ratelimit-reset-tokens",
  "x-request-id",
  "x-should-retry",
].join(", ");

/** SDKs ask for a dozen headers, and for new ones with each version. So any well-formed list of names is allowed. */
const headerNames = /^[\w!#$%&'*+\-.^`|~]{1,100}(?:[ \t]*,[ \t]*[\w!#$%&'*+\-.^`|~]{1,100}){0,63}$/;

export interface Cors {
  /** Sets the CORS headers of an answer, before its head is written. */
  mark(request: Routed, response: { setHeader(name: string, value: string): unknown }): void;
  /** Answers a preflight, which never carries a key. False if the request is no preflight, or its origin or route is not allowed. */
  answerPreflight(
    request: Routed & { readonly raw: IncomingMessage },
    response: ServerResponse,
  ): boolean;
}

/** Undefined if no origin is allowed: no answer gets CORS headers. */
export function createCors(origins: readonly string[]): Cors | undefined {
  if (origins.length === 0) return undefined;
  const anyone = origins.includes("*");
  const known = new Set(origins);
  const isKnown = (origin: string | undefined): origin is string =>
    origin !== undefined && (anyone || known.has(origin));
  return {
    mark({ match, raw }, response) {
      if (match.route.shared !== true) return;
      const { origin } = raw.headers;
      // Set `vary` also for other origins, or a cache would serve them this answer. With `*` every page may read every answer.
      if (!anyone) response.setHeader("vary", "Origin");
      if (anyone) response.setHeader("access-control-allow-origin", "*");
      if (!isKnown(origin)) return;
      if (!anyone) response.setHeader("access-control-allow-origin", origin);
      response.setHeader("access-control-expose-headers", exposed);
    },
    answerPreflight({ match, raw: { method, headers } }, response) {
      const asked = headers["access-control-request-method"];
      if (method !== "OPTIONS" || asked === undefined || match.route.shared !== true) return false;
      if (!isKnown(headers.origin)) return false;
      response.setHeader("access-control-allow-methods", methods);
      response.setHeader("access-control-max-age", rememberedSeconds);
      const names = headers["access-control-request-headers"];
      if (names !== undefined && headerNames.test(names))
        response.setHeader("access-control-allow-headers", names);
      response.writeHead(204);
      response.end();
      return true;
    },
  };
}
