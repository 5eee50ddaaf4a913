/**
 * CSRF protection: checks that a request with a session cookie comes from our own pages. A browser adds the cookie for any page, but
 * names the page's origin. Programs name none, and no page can make a browser omit it. OWASP "Cross-Site Request Forgery".
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
  // Compare no scheme: a proxy in front may have terminated TLS.
  if (!URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase()) throw crossOrigin();
}

const crossOrigin = (): GatewayError =>
  new GatewayError(
    "cross_origin_request",
    "A page of another origin sent this change. Use the console, or a token.",
  );
