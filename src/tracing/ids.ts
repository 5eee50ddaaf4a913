/**
 * Ids of traces and spans: as words of 32 bits, which is how they are written, and as hexadecimal text, for whoever reads them.
 * Random ones are made many at a time.
 */
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

  /** @param at where the first of its words is in `words` */
  constructor(text: string, words: Words, at: number) {
    this.text = text;
    this.first = words.getInt32(at);
    this.second = words.getInt32(at + 4);
    this.third = words.getInt32(at + 8);
    this.fourth = words.getInt32(at + 12);
  }
}

type Words = Pick<DataView, "getInt32">;

/** Small, because an id is a slice of its text: an exemplar's keeps all of it. */
const pool = Buffer.alloc(1_024);
const words = new DataView(pool.buffer, pool.byteOffset, pool.length);
let text = "";
let drawn = pool.length;

/** Where in the pool an id of so many bytes begins, until the next is drawn. */
function draw(bytes: number): number {
  if (drawn + bytes > pool.length) {
    text = randomFillSync(pool).toString("hex");
    drawn = 0;
  }
  drawn += bytes;
  return drawn - bytes;
}

const textAt = (at: number, bytes: number): string => text.slice(2 * at, 2 * (at + bytes));

/** Ids of zeros are none (W3C Trace Context). */
export const isNoSpan = ({ high, low }: SpanId): boolean => high === 0 && low === 0;
export const isNoTrace = ({ first, second, third, fourth }: TraceId): boolean =>
  first === 0 && second === 0 && third === 0 && fourth === 0;

/** A random one. */
export function newSpanId(): SpanId {
  const at = draw(8);
  const id = new SpanId(textAt(at, 8), words.getInt32(at), words.getInt32(at + 4));
  return isNoSpan(id) ? newSpanId() : id;
}

/** A random one. */
export function newTraceId(): TraceId {
  const at = draw(16);
  const id = new TraceId(textAt(at, 16), words, at);
  return isNoTrace(id) ? newTraceId() : id;
}
