/**
 * The header `traceparent` (W3C Trace Context, section 3.2): version, trace, parent, flags. It is read digit by digit into the
 * words that spans are written with, which is faster than a pattern, and once for all spans of the trace here.
 */
import { isNoSpan, isNoTrace, SpanId, TraceId } from "./ids.ts";

/** What a `traceparent` says. */
export interface Traceparent {
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  readonly isSampled: boolean;
}

/** Version 00 has exactly this; of later versions what follows its flags is not ours to read. */
const lengthMin = 55;
/** The longest that is read. */
const lengthMax = 256;
/** Where the parts begin. */
const traceAt = 3;
const spanAt = 36;
const flagsAt = 53;
/** ff, which is refused. */
const noVersion = 0xff;
const dash = 0x2d;
const isDash = (text: string, at: number): boolean => text.charCodeAt(at) === dash;

const noDigit = 0xff;
/** The value of each digit by its code; capitals are none here. */
const digits = new Uint8Array(128).fill(noDigit);
for (let value = 0; value < 16; value += 1) digits[value.toString(16).charCodeAt(0)] = value;

/** Reads digits, at most eight, as an integer of 32 bits; undefined where one is none. */
function readDigits(text: string, at: number, count: number): number | undefined {
  let value = 0;
  for (let index = at; index < at + count; index += 1) {
    const code = text.charCodeAt(index);
    const digit = code < 128 ? digits[code]! : noDigit;
    if (digit === noDigit) return undefined;
    value = (value << 4) | digit;
  }
  return value;
}

/** The ids that are being read: four words of the trace, two of the span. */
const words = new DataView(new ArrayBuffer(24));

/** Reads so many digits into `words`, from the byte `into` on; false where one is none. */
function readWords(text: string, at: number, count: number, into: number): boolean {
  for (let index = 0; index < count; index += 8) {
    const word = readDigits(text, at + index, 8);
    if (word === undefined) return false;
    words.setInt32(into + index / 2, word);
  }
  return true;
}

/** Whether dashes stand where they must. What follows a later version's flags begins with one, too. */
const isDivided = (text: string, version: number): boolean =>
  isDash(text, traceAt - 1) &&
  isDash(text, spanAt - 1) &&
  isDash(text, flagsAt - 1) &&
  (text.length === lengthMin || (version > 0 && isDash(text, lengthMin)));

/** Reads a `traceparent`; undefined for whatever is not exactly one. */
export function readTraceparent(text: string | undefined): Traceparent | undefined {
  if (text === undefined || text.length < lengthMin || text.length > lengthMax) return undefined;
  const version = readDigits(text, 0, 2) ?? noVersion;
  const flags = readDigits(text, flagsAt, 2);
  if (version === noVersion || flags === undefined || !isDivided(text, version)) return undefined;
  if (!readWords(text, traceAt, 32, 0) || !readWords(text, spanAt, 16, 16)) return undefined;
  const spanText = text.slice(spanAt, flagsAt - 1);
  const traceId = new TraceId(text.slice(traceAt, spanAt - 1), words, 0);
  const spanId = new SpanId(spanText, words.getInt32(16), words.getInt32(20));
  if (isNoTrace(traceId) || isNoSpan(spanId)) return undefined;
  return { traceId, spanId, isSampled: (flags & 1) === 1 };
}
