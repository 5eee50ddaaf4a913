/** Identifiers: a prefix that names the kind, then 26 characters that sort by time (ULID alphabet and layout). */
import { randomFillSync } from "node:crypto";

/** The characters of identifiers after their prefix, in sort order. */
export const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
/** Random characters made in advance, so that the hot path calls neither the kernel nor the alphabet each time. */
const pool = Buffer.alloc(4096);
let used = pool.length;

/** Sixteen random characters (80 bits). */
function randomPart(): string {
  if (used + 16 > pool.length) {
    randomFillSync(pool);
    for (let index = 0; index < pool.length; index += 1)
      pool[index] = idAlphabet.charCodeAt(pool[index]! & 31);
    used = 0;
  }
  used += 16;
  return pool.toString("latin1", used - 16, used);
}

let timeMs = -1;
let timeText = "";

/** Returns ten characters of the time; reuses them within a millisecond. */
function timePart(ms: number): string {
  if (ms === timeMs) return timeText;
  let text = "";
  let rest = ms;
  for (let index = 0; index < 10; index += 1) {
    text = idAlphabet[rest % 32]! + text;
    rest = Math.floor(rest / 32);
  }
  timeMs = ms;
  timeText = text;
  return text;
}

const timeMsMax = 32 ** 10 - 1;

/** Returns the time part of an identifier: earlier identifiers sort before it as text. */
export const idTime = (ms: number): string =>
  timePart(Math.floor(Math.min(Math.max(ms, 0), timeMsMax)));

/** Returns the time at which an identifier was made, from its part that begins with the time; undefined if the part is no time. */
export function idMs(part: string): number | undefined {
  let ms = 0;
  for (const character of part.slice(0, 10)) {
    const digit = idAlphabet.indexOf(character);
    if (digit < 0) return undefined;
    ms = ms * 32 + digit;
  }
  return part.length < 10 ? undefined : ms;
}

/** A new identifier such as `req_01jd...`: unique, unguessable (80 random bits), sortable by creation time. */
export function newId(prefix: string, nowMs: number = Date.now()): string {
  return `${prefix}_${timePart(nowMs)}${randomPart()}`;
}

/** Follows the id of a call that outlived its hold: the reference of the entry that charged it (docs/ledger.md). */
export const latePart = ":late";
