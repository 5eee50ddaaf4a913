/**
 * Parses the head of an HTTP/1.1 answer, status line and header fields, in one pass and strictly. If two readers understand a head
 * differently, one caller can get another's answer. Pure. RFC 9112 sections 4 and 5.
 */
import type { IncomingHttpHeaders } from "node:http";

/** An answer that violates HTTP/1.1. The message names the rule, and contains nothing of the answer. */
export class MalformedAnswerError extends Error {
  override name = "MalformedAnswerError";
}

/** A head, status 1xx included. */
export interface Head {
  readonly status: number;
  /** 0 for HTTP/1.0. */
  readonly minor: number;
  /** As in Node: lower-case names, duplicates joined or dropped, `set-cookie` a list. Without a prototype. */
  readonly headers: IncomingHttpHeaders;
  /** The index after the head in the text, its empty line included. */
  readonly end: number;
}

/** The same limit as Node's. */
export const headBytesMax = 16 * 1024;

const tab = 9;
const lineFeed = 10;
const carriageReturn = 13;
const space = 32;
const colon = 58;
const zero = 48;

/** 1 if a character is allowed in a field name (RFC 9110 section 5.6.2) or in a field value (section 5.5). */
const tokenCharacters = new Uint8Array(256);
const fieldCharacters = new Uint8Array(256);
for (let code = 0; code < 256; code += 1) {
  if (/[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(code))) tokenCharacters[code] = 1;
  if (code === tab || (code >= space && code !== 127)) fieldCharacters[code] = 1;
}

/** True if a text is a valid field name. */
export function isToken(text: string): boolean {
  return text.length > 0 && runEnd(text, 0, tokenCharacters) === text.length;
}

/** True if a text is a valid field value: no control characters, nothing beyond Latin-1. */
export function isFieldValue(text: string): boolean {
  return runEnd(text, 0, fieldCharacters) === text.length;
}

/**
 * Reads the head that begins at `from` in a Latin-1 text. Undefined if the text ends before the head.
 * @throws MalformedAnswerError for an invalid head, as early as possible, and for one above `headBytesMax`
 */
export function parseHead(text: string, from: number): Head | undefined {
  const head = readHead(text, from);
  if ((head?.end ?? text.length) - from > headBytesMax)
    throw new MalformedAnswerError(`a head longer than ${headBytesMax} bytes`);
  return head;
}

const versionPrefix = "HTTP/1.";
/** `HTTP/1.1 200` */
const statusEnd = 12;

function readHead(text: string, from: number): Head | undefined {
  const start = text.slice(from, from + statusEnd);
  if (start.length < statusEnd) {
    if (!versionPrefix.startsWith(start.slice(0, versionPrefix.length))) throw noStatusLine();
    return undefined;
  }
  const { status, minor } = statusLineOf(start);
  const after = text.slice(from + statusEnd, from + statusEnd + 1);
  if (after !== "" && after !== " " && after !== "\r") throw noStatusLine();
  const headers = new EmptyHeaders();
  const end = readFields(text, runEnd(text, from + statusEnd, fieldCharacters), headers);
  return end === undefined ? undefined : { status, minor, headers, end };
}

/** Reads from the end of the status line to after the empty line; undefined if the text ends before. */
function readFields(text: string, from: number, headers: IncomingHttpHeaders): number | undefined {
  let at = from;
  for (;;) {
    if (!isLineEnd(text, at)) return undefined;
    at += 2;
    if (text.charCodeAt(at) === carriageReturn) return isLineEnd(text, at) ? at + 2 : undefined;
    const nameEnd = runEnd(text, at, tokenCharacters);
    if (nameEnd === text.length) return undefined;
    if (nameEnd === at || text.charCodeAt(nameEnd) !== colon)
      throw new MalformedAnswerError("a header name with characters that are not allowed");
    const valueEnd = runEnd(text, nameEnd + 1, fieldCharacters);
    if (valueEnd === text.length) return undefined;
    add(headers, text.slice(at, nameEnd).toLowerCase(), trimmed(text, nameEnd + 1, valueEnd));
    at = valueEnd;
  }
}

const noStatusLine = (): MalformedAnswerError =>
  new MalformedAnswerError("no HTTP/1.1 status line");

/** `HTTP/1.1 200`: version and status. */
function statusLineOf(start: string): Pick<Head, "status" | "minor"> {
  const minor = start.charCodeAt(7) - zero;
  const hundreds = start.charCodeAt(9) - zero;
  const tens = start.charCodeAt(10) - zero;
  const ones = start.charCodeAt(11) - zero;
  const isVersion = start.startsWith(versionPrefix) && (minor === 0 || minor === 1);
  const isStatus = hundreds >= 1 && hundreds <= 9 && isDigit(tens) && isDigit(ones);
  if (!isVersion || start.charCodeAt(8) !== space || !isStatus) throw noStatusLine();
  return { status: hundreds * 100 + tens * 10 + ones, minor };
}

const isDigit = (value: number): boolean => value >= 0 && value <= 9;

/** The index after the run of such characters that begins at `from`. */
function runEnd(text: string, from: number, characters: Uint8Array): number {
  let at = from;
  while (at < text.length && characters[text.charCodeAt(at)] === 1) at += 1;
  return at;
}

/** True if a line ends here; false if the text ends. @throws MalformedAnswerError for any other control character */
function isLineEnd(text: string, at: number): boolean {
  if (at >= text.length) return false;
  if (text.charCodeAt(at) !== carriageReturn) throw badLineEnd();
  if (at + 1 >= text.length) return false;
  if (text.charCodeAt(at + 1) !== lineFeed) throw badLineEnd();
  return true;
}

const badLineEnd = (): MalformedAnswerError =>
  new MalformedAnswerError("a control character in a line of the head");

function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const isBlank = (code: number): boolean => code === space || code === tab;

/** An object without a prototype, as fast as a normal one: a header may be called `constructor` or `__proto__`. */
const EmptyHeaders = function EmptyHeaders() {} as unknown as new () => IncomingHttpHeaders;
EmptyHeaders.prototype = Object.create(null) as object;

/** Only the first value of these headers counts, as in Node (`http.IncomingMessage.headers`). */
const singleHeaders = new Set([
  "age",
  "authorization",
  "content-length",
  "content-type",
  "etag",
  "expires",
  "from",
  "host",
  "if-modified-since",
  "if-unmodified-since",
  "last-modified",
  "location",
  "max-forwards",
  "proxy-authorization",
  "referer",
  "retry-after",
  "server",
  "user-agent",
]);

function add(headers: IncomingHttpHeaders, name: string, value: string): void {
  const known = headers[name];
  if (name === "set-cookie") {
    if (known === undefined) headers[name] = [value];
    else (known as string[]).push(value);
  } else if (known === undefined) headers[name] = value;
  else if (name === "content-length" && known !== value)
    throw new MalformedAnswerError("two lengths that differ");
  else if (!singleHeaders.has(name))
    headers[name] = `${known as string}${name === "cookie" ? "; " : ", "}${value}`;
}
