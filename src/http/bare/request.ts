/**
 * Reading a request that arrived whole in one read. Only the strict, plain form is read here; whatever else HTTP/1.1 allows or
 * forbids is for Node's own parser, so that there is one opinion about where a message ends. RFC 9112, sections 3 to 6.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { RequestHead } from "../exchange.ts";

/** A request with its body. */
export interface WholeRequest extends RequestHead {
  readonly method: "POST";
  readonly url: string;
  readonly body: Buffer;
}

/** Half of what Node takes. */
const headBytesMax = 8_192;
const headEnd = Buffer.from("\r\n\r\n");
const start = "POST /";
const version = " HTTP/1.1";

/** Path and query in characters that need no thought. */
const plainUrl = /^\/[\w\-.~:/?@!$&'()*+,;=%]*$/;
const token = /^[\w!#$%&'*+\-.^`|~]+$/;
/** What a header's value must not have (RFC 9110, section 5.5). */
const badInValue = /[^\t\x20-\x7e\x80-\xff]/;
const digits = /^(?:0|[1-9]\d{0,8})$/;

/** Headers that change how a message is read, or what comes after it. */
const notPlain = new Set([
  "expect",
  "http2-settings",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * The one request that these bytes are, to the last one; undefined when they are anything else or when there is any doubt.
 * Values of headers are decoded as Latin-1.
 */
export function readWholeRequest(bytes: Buffer): WholeRequest | undefined {
  const end = bytes.indexOf(headEnd);
  if (end === -1 || end > headBytesMax) return undefined;
  // With the line end of the last header, which every line has.
  const head = bytes.toString("latin1", 0, end + 2);
  const lineEnd = head.indexOf("\r\n");
  const urlEnd = lineEnd - version.length;
  if (!head.startsWith(start) || !head.startsWith(version, urlEnd)) return undefined;
  const url = head.slice(start.length - 1, urlEnd);
  if (!plainUrl.test(url)) return undefined;
  const headers = readHeaders(head, lineEnd + 2);
  if (headers === undefined || !isPlain(headers)) return undefined;
  const body = bytes.subarray(end + headEnd.length);
  if (Number(headers["content-length"]) !== body.length) return undefined;
  return { method: "POST", url, headers, body };
}

/** The headers from `from` on; undefined where one is malformed, comes twice or is not plain. */
function readHeaders(head: string, from: number): IncomingHttpHeaders | undefined {
  const headers = Object.create(null) as IncomingHttpHeaders;
  for (let at = from; at < head.length;) {
    const lineEnd = head.indexOf("\r\n", at);
    const colon = head.indexOf(":", at);
    if (colon === -1 || colon > lineEnd) return undefined;
    const name = head.slice(at, colon).toLowerCase();
    if (!token.test(name) || name in headers || notPlain.has(name)) return undefined;
    const value = trimmed(head, colon + 1, lineEnd);
    if (badInValue.test(value)) return undefined;
    headers[name] = value;
    at = lineEnd + 2;
  }
  return headers;
}

/** A stretch of text without the spaces and tabs around it. */
function trimmed(text: string, from: number, to: number): string {
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

/** Whether the connection stays open and the body has a length. */
function isPlain({ host, connection, "content-length": length }: IncomingHttpHeaders): boolean {
  return (
    host !== undefined &&
    host !== "" &&
    (connection === undefined || connection.toLowerCase() === "keep-alive") &&
    length !== undefined &&
    digits.test(length)
  );
}
