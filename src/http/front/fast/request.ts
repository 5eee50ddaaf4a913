/**
 * Reading a request whose head arrived in one read. Only the strict, plain form is read here; whatever else HTTP/1.1 allows or
 * forbids is for Node's own parser, so that there is one opinion about where a message ends. RFC 9112, sections 3 to 6.
 */
import { CallHeaders, headBytesMax, headersMax, type RequestHead } from "../../exchange.ts";
import { matchRoute, type RouteMatch } from "../../routes.ts";

/** A request, and what came of its body with its head. */
export interface PlainRequest extends RequestHead {
  readonly method: "POST";
  readonly url: string;
  readonly match: RouteMatch;
  readonly headers: CallHeaders;
  /** Whoever takes it leaves nothing behind: the head is kept as long as the answer takes, and all of one read with its bytes. */
  body: Buffer;
  /** The announced length of the body, which may be more than has come. */
  readonly length: number;
  /** Whether its client wants no other answer on this connection. */
  readonly last: boolean;
}

type ReadName = keyof CallHeaders;

/** A header that matters: it is read, or the request is not plain. */
interface Known {
  readonly name: string;
  readonly read: ReadName | undefined;
}

/** These change how a message is read, or what comes after it. */
const notPlain = [
  "expect",
  "http2-settings",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

const allKnown: readonly Known[] = [
  ...(Object.keys(new CallHeaders()) as ReadName[]).map((name) => ({ name, read: name })),
  ...notPlain.map((name) => ({ name, read: undefined })),
];

/** Where names of one length and first letter, large or small, stand in `known`. */
const place = (length: number, first: number): number => (length % 32) * 32 + (first & 31);

/** Most headers that a client sends do not matter: this tells them apart without reading their names. */
const known: readonly (readonly Known[])[] = Array.from({ length: 32 * 32 }, (_, at) =>
  allKnown.filter(({ name }) => place(name.length, name.charCodeAt(0)) === at),
);

/** What is larger is for Node to judge. */
const plainBytesMax = headBytesMax / 2;
const headEnd = Buffer.from("\r\n\r\n");

/**
 * The head with the line end of its last header. The path in characters that need no thought, names as tokens, values without
 * control characters (RFC 9110, sections 5.1 and 5.5); no folded lines.
 */
const plainHead =
  /^POST (\/[\w\-.~:/?@!$&'()*+,;=%]*) HTTP\/1\.1\r\n(?:[\w!#$%&'*+\-.^`|~]+:[\t\x20-\x7e\x80-\xff]*\r\n)+$/;
const plainLength = /^(?:0|[1-9]\d{0,8})$/;

/**
 * The one request that these bytes are or begin, with all of its head; undefined when they are anything else or when there is
 * any doubt. Values of headers are decoded as Latin-1.
 */
export function readPlainRequest(bytes: Buffer): PlainRequest | undefined {
  const end = bytes.indexOf(headEnd);
  if (end === -1 || end > plainBytesMax) return undefined;
  const head = bytes.toString("latin1", 0, end + 2);
  const url = plainHead.exec(head)?.[1];
  if (url === undefined) return undefined;
  const headers = readHeaders(head);
  if (headers === undefined || !isPlain(headers)) return undefined;
  const body = bytes.subarray(end + headEnd.length);
  const length = Number(headers["content-length"]);
  if (length < body.length) return undefined;
  const last = isOption(headers.connection, "close");
  return { method: "POST", url, match: matchRoute("POST", url), headers, body, length, last };
}

/** The headers of a well-formed head; undefined where one comes twice or is not plain, or there are too many. */
function readHeaders(head: string): CallHeaders | undefined {
  const headers = new CallHeaders();
  let at = head.indexOf("\r\n") + 2;
  for (let count = 1; at < head.length; count += 1) {
    if (count > headersMax) return undefined;
    const colon = head.indexOf(":", at);
    const lineEnd = head.indexOf("\r\n", colon);
    const found = knownAt(head, at, colon);
    if (found !== undefined) {
      const { read } = found;
      if (read === undefined || headers[read] !== undefined) return undefined;
      headers[read] = trimmed(head, colon + 1, lineEnd);
    }
    at = lineEnd + 2;
  }
  return headers;
}

/** The known header whose name stands there in any spelling. */
function knownAt(head: string, from: number, to: number): Known | undefined {
  const length = to - from;
  const candidates = known[place(length, head.charCodeAt(from))]!;
  for (const one of candidates)
    if (one.name.length === length && isAt(head, from, one.name)) return one;
  return undefined;
}

/** Whether a name of small letters, digits and hyphens stands there in a token: there only letters differ from these by that bit. */
function isAt(head: string, from: number, name: string): boolean {
  for (let index = 0; index < name.length; index += 1) {
    const expected = name.charCodeAt(index);
    const code = head.charCodeAt(from + index);
    if (code !== expected && (code | 0x20) !== expected) return false;
  }
  return true;
}

/** A stretch of text without the spaces and tabs around it. */
function trimmed(text: string, from: number, to: number): string {
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

const isOption = (connection: string | undefined, name: "close" | "keep-alive"): boolean =>
  connection === name || connection?.toLowerCase() === name;

/** Whether nothing is said of the connection but whether it stays open, and the body has a length. */
function isPlain({ host, connection, "content-length": length }: CallHeaders): boolean {
  return (
    host !== undefined &&
    host !== "" &&
    (connection === undefined ||
      isOption(connection, "keep-alive") ||
      isOption(connection, "close")) &&
    length !== undefined &&
    plainLength.test(length)
  );
}
