/**
 * Whether a request that a cookie vouches for comes from our own pages: a browser adds the cookie whoever asks, but says
 * from where. Programs say nothing, and no page can make a browser say nothing. OWASP "Cross-Site Request Forgery".
 */
import type { IncomingHttpHeaders } from "node:http";
import { GatewayError } from "../../base/errors.ts";

const reading = new Set(["GET", "HEAD", "OPTIONS"]);

/** @throws GatewayError 403 `cross_origin_request` */
export function checkSameOrigin(method: string, headers: IncomingHttpHeaders): void {
  if (reading.has(method)) return;
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") throw crossOrigin();
  const { origin, host } = headers;
  if (origin === undefined) return;
  // The scheme is not compared: a proxy in front may have taken TLS off.
  if (!URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase()) throw crossOrigin();
}

const crossOrigin = (): GatewayError =>
  new GatewayError(
    "cross_origin_request",
    "This change was asked for by a page of another origin. Use the console, or a token.",
  );
