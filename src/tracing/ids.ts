/** Ids of traces and spans: random bytes as hexadecimal text, made many at a time. */
import { randomFillSync } from "node:crypto";

const pool = Buffer.alloc(8_192);
let text = "";
let used = 0;

/** Random hexadecimal digits; never all zeros, which would be no id. */
function randomHex(digits: number): string {
  if (used + digits > text.length) {
    text = randomFillSync(pool).toString("hex");
    used = 0;
  }
  used += digits;
  const id = text.slice(used - digits, used);
  return /^0+$/.test(id) ? randomHex(digits) : id;
}

export const newTraceId = (): string => randomHex(32);
export const newSpanId = (): string => randomHex(16);
