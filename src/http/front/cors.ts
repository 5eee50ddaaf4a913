/**
 * Calls from pages of other origins (browser SDKs, extensions), for the origins that the operator lists under `cors.origins`.
 * Keys travel in headers that a page must set itself, so what is shared here needs no cookie. The management API and
 * signing in live by cookies, and are never shared (routes.ts). Fetch Standard, "CORS protocol".
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Routed } from "../exchange.ts";

const methods = "GET, POST, DELETE";
/** How long a browser may remember a preflight's answer, in seconds. */
const rememberedSeconds = "600";

/** What SDKs and callers read; a browser hides every other header from a page. */
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

/** SDKs ask for a dozen headers, and name new ones with each version: whatever is a list of names is allowed. */
const headerNames = /^[\w!#$%&'*+\-.^`|~]{1,100}(?:[ \t]*,[ \t]*[\w!#$%&'*+\-.^`|~]{1,100}){0,63}$/;

export interface Cors {
  /** Says on the answer, before it has a head, whether the asking page may read it. */
  mark(request: Routed, response: { setHeader(name: string, value: string): unknown }): void;
  /** Answers a preflight, which never carries a key. False where the request is none, or not for its origin. */
  answerPreflight(
    request: Routed & { readonly raw: IncomingMessage },
    response: ServerResponse,
  ): boolean;
}

/** Undefined where no origin is allowed: nothing is added to any answer. */
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
      // Also on answers to others, or a cache would give them to everybody: with `*` what a page shows, and then reads itself.
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
