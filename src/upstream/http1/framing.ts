/**
 * Where an answer's body ends and whether its connection may carry another exchange, by its head. Pure.
 * RFC 9112 sections 6.3 and 9.3.
 */
import { MalformedAnswerError, type Head } from "./head.ts";

/** How a body ends: it has none, after so many bytes, with its last chunk, or with the connection. */
export type BodyKind = "none" | "length" | "chunked" | "close";

export interface Framing {
  readonly kind: BodyKind;
  /** In bytes, of a body of kind `length`; otherwise 0. */
  readonly length: number;
  /** How long the connection may lie idle once the body is read, milliseconds; 0 where it must not be used again. */
  readonly idleMs: number;
}

/** What the connection may lie idle where its server says nothing. */
const idleMsMax = 30_000;
/** How much earlier than its server we close it, so that no request crosses the server's own close. As undici has it. */
const idleMarginMs = 2_000;

/**
 * The framing of the answer to a POST.
 * @throws MalformedAnswerError where the head says nothing clear: readers would part at different bytes.
 */
export function framingOf({ status, minor, headers }: Head): Framing {
  const length = headers["content-length"];
  const coding = headers["transfer-encoding"];
  const isChunked = coding !== undefined && checkCoding(coding, minor, length);
  const bytes = length === undefined ? 0 : lengthOf(length);
  const idleMs = idleMsOf(minor, headers.connection, headers["keep-alive"]);
  if (status === 204 || status === 304) {
    // What announces a body all the same may send one, which would be taken for the next answer.
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

/** Digits only, and few enough to be counted exactly. */
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
