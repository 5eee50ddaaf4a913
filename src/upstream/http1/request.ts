/**
 * Writes the head of a request as text. It is written and checked once per path and headers object, because a target's headers are one
 * object for all of its calls (target.ts). RFC 9112 section 3.
 */
import { isFieldValue, isToken } from "./head.ts";

/** An invalid request, for example a key with a line break. Names the header, never its value. */
class BadRequestHeadError extends Error {
  override name = "BadRequestHeadError";
}

/** A head up to the length of the body. */
export interface HeadText {
  readonly path: string;
  readonly text: string;
  /** False if a header contains characters beyond ASCII, which are sent as Latin-1, unlike the UTF-8 body. */
  readonly isAscii: boolean;
}

/** The parts of a head that are the same for one origin. */
export interface HeadPlace {
  /** The header `Host`: with a port only if it is not the scheme's default. */
  readonly host: string;
  /** The prefix of the path if a proxy reads the request; else empty. RFC 9112 section 3.2.2. */
  readonly target: string;
  /** The `proxy-authorization` for that proxy. */
  readonly authorization: string | undefined;
}

/** The cached heads of one origin. */
export class RequestHeads {
  readonly #place: HeadPlace;
  readonly #known = new WeakMap<Readonly<Record<string, string>>, HeadText>();

  constructor(place: HeadPlace) {
    this.#place = place;
  }

  /** Returns the head of a POST. @throws BadRequestHeadError */
  get(path: string, headers: Readonly<Record<string, string>>): HeadText {
    const known = this.#known.get(headers);
    if (known !== undefined && known.path === path) return known;
    const head = makeHead(this.#place, path, headers);
    this.#known.set(headers, head);
    return head;
  }
}

const lastLine = "content-length: ";
const traceparentForm = /^[\da-f-]{55}$/;

/** Returns the head with one more header. @throws BadRequestHeadError for an invalid `traceparent` */
export function withTraceparent({ text, ...head }: HeadText, traceparent: string): HeadText {
  if (!traceparentForm.test(traceparent))
    throw new BadRequestHeadError("the header traceparent cannot be sent");
  const before = text.slice(0, -lastLine.length);
  return { ...head, text: `${before}traceparent: ${traceparent}\r\n${lastLine}` };
}

/** Headers that only the client itself sets. */
const ownNames = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "proxy-authorization",
]);

function makeHead(
  { host, target, authorization }: HeadPlace,
  path: string,
  headers: Readonly<Record<string, string>>,
): HeadText {
  if (!/^\/[\x21-\x7e]*$/.test(path)) throw new BadRequestHeadError("the path cannot be sent");
  let text = `POST ${target}${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  if (authorization !== undefined) text += `proxy-authorization: ${authorization}\r\n`;
  for (const [name, value] of Object.entries(headers)) {
    if (!isToken(name)) throw new BadRequestHeadError("a header's name cannot be sent");
    if (ownNames.has(name.toLowerCase()) || !isFieldValue(value))
      throw new BadRequestHeadError(`the header ${name} cannot be sent`);
    text += `${name}: ${value}\r\n`;
  }
  text += lastLine;
  return { path, text, isAscii: Buffer.byteLength(text) === text.length };
}
