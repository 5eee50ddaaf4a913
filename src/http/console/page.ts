/**
 * The console's one page, and the page that replaces it before the console is built. The policy allows scripts and styles of this
 * origin alone, and no page to frame it. Styles that its components add carry a nonce that is used once.
 */
import { randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Builds } from "./build.ts";

const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

/** Denies every browser feature but writing to the clipboard. */
const permissions = [
  "accelerometer",
  "bluetooth",
  "camera",
  "clipboard-read",
  "display-capture",
  "geolocation",
  "gyroscope",
  "hid",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "publickey-credentials-get",
  "screen-wake-lock",
  "serial",
  "usb",
  "xr-spatial-tracking",
]
  .map((name) => `${name}=()`)
  .join(", ");

function send(reply: FastifyReply, status: number, html: (nonce: string) => string): FastifyReply {
  const nonce = randomBytes(18).toString("base64");
  return reply
    .code(status)
    .headers({
      "content-security-policy": policyOf(nonce),
      "cross-origin-opener-policy": "same-origin",
      "permissions-policy": `${permissions}, clipboard-write=(self)`,
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "x-robots-tag": "noindex",
      "cache-control": "no-store",
      vary: "accept",
    })
    .type("text/html; charset=utf-8")
    .send(html(nonce));
}

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The page before the console is built. It reloads by itself while a build runs. */
function unbuilt(failure: string | undefined): string {
  const said =
    failure === undefined
      ? "<h1>The console is being built</h1><p>This takes a few seconds; the page looks again by itself. Where it stays, <code>npm run console:build</code> builds it.</p>"
      : `<h1>The console could not be built</h1><p>The API works without it. After mending what is said here, run <code>npm run console:build</code>.</p><pre>${escape(failure)}</pre>`;
  const refresh = failure === undefined ? '<meta http-equiv="refresh" content="2">' : "";
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">${refresh}<title>Tollgate</title></head><body>${said}<p><a href="/docs">API reference</a></p></body></html>\n`;
}

/** True if the client wants a page: programs that accept JSON or any type get the API's errors. */
function wantsPage(request: FastifyRequest): boolean {
  const { method, headers } = request;
  if (method !== "GET" && method !== "HEAD") return false;
  return headers.accept?.toLowerCase().includes("text/html") === true;
}

/** Answers a browser with the console's page. Undefined if the client wants no page, or if the path is none of the console's. */
export function answerPage(
  builds: Builds,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | undefined {
  const { path } = request.match;
  if (!wantsPage(request)) return undefined;
  const build = builds.current();
  const first = path.slice(1).split("/", 1)[0]!;
  if (path !== "/" && build?.pages.has(first) !== true) return undefined;
  if (build === undefined) return send(reply, 503, () => unbuilt(builds.failure()));
  return send(reply, 200, (nonce) => build.index.replaceAll("CSP_NONCE", nonce));
}
