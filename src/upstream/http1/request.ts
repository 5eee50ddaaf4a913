/**
 * The head of a request as text. It is made and checked once for each path and set of headers, because a target's headers are
 * one object for all of its calls (target.ts). RFC 9112 section 3.
 */
import { isFieldValue, isToken } from "./head.ts";

/** A request that would not be what it says, such as a key with a line break in it. Names the header, never its value. */
class BadRequestHeadError extends Error {
  override name = "BadRequestHeadError";
}

/** Everything of a head up to the length of the body. */
export interface HeadText {
  readonly path: string;
  readonly text: string;
  /** False where a header holds characters beyond ASCII, which go out as Latin-1 and not as the body's UTF-8. */
  readonly isAscii: boolean;
}

/** What the heads of one origin have in common. */
export interface HeadPlace {
  /** What the header `Host` says: the port only where it is not the scheme's own. */
  readonly host: string;
  /** What stands before the path where a proxy reads the request; else empty. RFC 9112 section 3.2.2. */
  readonly target: string;
  /** What that proxy wants to see. */
  readonly authorization: string | undefined;
}

/** The heads of one origin. */
export class RequestHeads {
  readonly #place: HeadPlace;
  readonly #known = new WeakMap<Readonly<Record<string, string>>, HeadText>();

  constructor(place: HeadPlace) {
    this.#place = place;
  }

  /** The head of a POST. @throws BadRequestHeadError */
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

/** The same head with one more header. @throws BadRequestHeadError for what is no `traceparent` */
export function withTraceparent({ text, ...head }: HeadText, traceparent: string): HeadText {
  if (!traceparentForm.test(traceparent))
    throw new BadRequestHeadError("the header traceparent cannot be sent");
  const before = text.slice(0, -lastLine.length);
  return { ...head, text: `${before}traceparent: ${traceparent}\r\n${lastLine}` };
}

/** What only the client itself can know. */
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
