/** Determines from an answer's head where its body ends, and whether its connection may be reused. Pure. RFC 9112 sections 6.3 and 9.3. */
import { MalformedAnswerError, type Head } from "./head.ts";

/** The end of a body: no body, after `length` bytes, with the last chunk, or with the connection. */
export type BodyKind = "none" | "length" | "chunked" | "close";

export interface Framing {
  readonly kind: BodyKind;
  /** Bytes of a body of kind `length`; otherwise 0. */
  readonly length: number;
  /** Milliseconds that the connection may be idle after the body; 0 if it must not be reused. */
  readonly idleMs: number;
}

/** The longest idle time, also used if the server names none. */
const idleMsMax = 30_000;
/** The gateway closes this much earlier than the server, so that no request crosses the server's close. As in undici. */
const idleMarginMs = 2_000;

/**
 * Returns the framing of the answer to a POST.
 * @throws MalformedAnswerError if the head is ambiguous: readers would disagree where the body ends.
 */
export function framingOf({ status, minor, headers }: Head): Framing {
  const length = headers["content-length"];
  const coding = headers["transfer-encoding"];
  const isChunked = coding !== undefined && checkCoding(coding, minor, length);
  const bytes = length === undefined ? 0 : lengthOf(length);
  const idleMs = idleMsOf(minor, headers.connection, headers["keep-alive"]);
  if (status === 204 || status === 304) {
    // A server that announces a body here may send one, and it would be taken for the next answer.
    const isBare = !isChunked && bytes === 0;
    return { kind: "none", length: 0, idleMs: isBare ? idleMs : 0 };
  }
  if (isChunked) return { kind: "chunked", length: 0, idleMs };
  if (length === undefined) return { kind: "close", length: 0, idleMs: 0 };
  return { kind: bytes === 0 ? "none" : "length", length: bytes, idleMs };
}

function checkCoding(coding: string, minor: number, length: string | undefined): boolean {
  if (length !== undefined) throw new MalformedAnswerError("both a length and a transfer coding");
  if (minor === 0) throw new MalformedAnswerError("a transfer coding in HTTP/1.0");
  if (coding.toLowerCase() !== "chunked")
    throw new MalformedAnswerError("a transfer coding other than chunked");
  return true;
}

const zero = 48;
const lengthDigitsMax = 15;
const noLength = (): MalformedAnswerError => new MalformedAnswerError("a length that is no number");

/** Parses digits only, and few enough to be exact. */
function lengthOf(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - zero;
    if (digit < 0 || digit > 9) throw noLength();
    length = length * 10 + digit;
  }
  if (text.length === 0 || text.length > lengthDigitsMax) throw noLength();
  return length;
}

function idleMsOf(
  minor: number,
  connection: string | undefined,
  keepAlive: string | string[] | undefined,
): number {
  if (minor === 0) return 0;
  if (connection !== undefined && /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(connection)) return 0;
  if (keepAlive === undefined) return idleMsMax;
  const seconds = /timeout=(\d+)/i.exec(String(keepAlive))?.[1];
  if (seconds === undefined) return idleMsMax;
  return Math.max(0, Math.min(idleMsMax, Number(seconds) * 1000 - idleMarginMs));
}
