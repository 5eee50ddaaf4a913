/** Ids of traces and spans, as 32-bit words for writing, and as hexadecimal text for readers. Random ids are drawn in bulk. */
import { randomFillSync } from "node:crypto";

/** 16 hexadecimal digits. */
export class SpanId {
  readonly text: string;
  readonly high: number;
  readonly low: number;

  constructor(text: string, high: number, low: number) {
    this.text = text;
    this.high = high;
    this.low = low;
  }
}

/** 32 hexadecimal digits. */
export class TraceId {
  readonly text: string;
  readonly first: number;
  readonly second: number;
  readonly third: number;
  readonly fourth: number;

  /** @param at the byte in `words` where the first word begins */
  constructor(text: string, words: Words, at: number) {
    this.text = text;
    this.first = words.getInt32(at);
    this.second = words.getInt32(at + 4);
    this.third = words.getInt32(at + 8);
    this.fourth = words.getInt32(at + 12);
  }
}

type Words = Pick<DataView, "getInt32">;

/** Small, because an id's text is a slice of the pool's text: an exemplar that keeps one id keeps all of that text. */
const pool = Buffer.alloc(1_024);
const words = new DataView(pool.buffer, pool.byteOffset, pool.length);
let text = "";
let drawn = pool.length;

/** Returns the pool offset of a new id of `bytes` bytes; valid until the next draw. */
function draw(bytes: number): number {
  if (drawn + bytes > pool.length) {
    text = randomFillSync(pool).toString("hex");
    drawn = 0;
  }
  drawn += bytes;
  return drawn - bytes;
}

const textAt = (at: number, bytes: number): string => text.slice(2 * at, 2 * (at + bytes));

/** Ids of only zeros are invalid (W3C Trace Context). */
export const isNoSpan = ({ high, low }: SpanId): boolean => high === 0 && low === 0;
export const isNoTrace = ({ first, second, third, fourth }: TraceId): boolean =>
  first === 0 && second === 0 && third === 0 && fourth === 0;

/** A new random id. */
export function newSpanId(): SpanId {
  const at = draw(8);
  const id = new SpanId(textAt(at, 8), words.getInt32(at), words.getInt32(at + 4));
  return isNoSpan(id) ? newSpanId() : id;
}

/** A new random id. */
export function newTraceId(): TraceId {
  const at = draw(16);
  const id = new TraceId(textAt(at, 16), words, at);
  return isNoTrace(id) ? newTraceId() : id;
}
