/**
 * Parses a request whose head arrived in one read. It accepts only the strict, plain form and leaves all other HTTP/1.1 to Node's
 * parser. So only Node decides where a message ends in any doubtful case. RFC 9112, sections 3 to 6.
 */
import { CallHeaders, headBytesMax, headersMax, type RequestHead } from "../../exchange.ts";
import { matchRoute, type RouteMatch } from "../../routes.ts";

/** A request, and the bytes of its body that came with its head. */
export interface PlainRequest extends RequestHead {
  readonly method: "POST";
  readonly url: string;
  readonly match: RouteMatch;
  readonly headers: CallHeaders;
  /** The handler replaces this by an empty buffer: the request lives as long as its answer, and would keep the bytes of the whole read. */
  body: Buffer;
  /** The announced length of the body; more than has arrived, perhaps. */
  readonly length: number;
  /** True if its client wants no other answer on this connection (`Connection: close`). */
  readonly closeAfter: boolean;
}

type ReadName = keyof CallHeaders;

/** A header that matters. `read` is its name in `CallHeaders`; undefined: with this header a request is not plain. */
interface Known {
  readonly name: string;
  readonly read: ReadName | undefined;
}

/** Headers that change how a message is read, or what comes after it. */
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

/** Returns the index in `known` for names of one length and one first letter, in either case. */
const place = (length: number, first: number): number => (length % 32) * 32 + (first & 31);

/** Buckets of known headers. Most headers that a client sends do not matter: this skips them without comparing their names. */
const known: readonly (readonly Known[])[] = Array.from({ length: 32 * 32 }, (_, at) =>
  allKnown.filter(({ name }) => place(name.length, name.charCodeAt(0)) === at),
);

/** Node handles requests with larger heads. */
const plainBytesMax = headBytesMax / 2;
const headEnd = Buffer.from("\r\n\r\n");

/**
 * The head up to the line end of its last header. The path has only characters that need no decoding, names are tokens, and values have
 * no control characters (RFC 9110, sections 5.1 and 5.5); no folded lines.
 */
const plainHead =
  /^POST (\/[\w\-.~:/?@!$&'()*+,;=%]*) HTTP\/1\.1\r\n(?:[\w!#$%&'*+\-.^`|~]+:[\t\x20-\x7e\x80-\xff]*\r\n)+$/;
const plainLength = /^(?:0|[1-9]\d{0,8})$/;

/**
 * Parses the one request that these bytes are or begin, with its whole head. Undefined for anything else, and in any doubt. Header
 * values are decoded as Latin-1.
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
  const closeAfter = isOption(headers.connection, "close");
  return { method: "POST", url, match: matchRoute("POST", url), headers, body, length, closeAfter };
}

/** Returns the headers of a well-formed head. Undefined if a known one repeats or is not plain, or if there are too many. */
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

/** Returns the known header whose name is at `from`, in either case. */
function knownAt(head: string, from: number, to: number): Known | undefined {
  const length = to - from;
  const candidates = known[place(length, head.charCodeAt(from))]!;
  for (const one of candidates)
    if (one.name.length === length && isAt(head, from, one.name)) return one;
  return undefined;
}

/** True if `name`, of small letters, digits and hyphens, is at `from` in either case. In a token, only letters differ by this bit alone. */
function isAt(head: string, from: number, name: string): boolean {
  for (let index = 0; index < name.length; index += 1) {
    const expected = name.charCodeAt(index);
    const code = head.charCodeAt(from + index);
    if (code !== expected && (code | 0x20) !== expected) return false;
  }
  return true;
}

/** Returns a slice of the text without the spaces and tabs around it. */
function trimmed(text: string, from: number, to: number): string {
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

const isOption = (connection: string | undefined, name: "close" | "keep-alive"): boolean =>
  connection === name || connection?.toLowerCase() === name;

/** True if the Connection header says at most whether it stays open, and the body has a length. */
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
