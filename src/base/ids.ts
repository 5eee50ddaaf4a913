/** Identifiers: a prefix that names the kind, then 26 characters that sort by time (ULID alphabet and layout). */
import { randomFillSync } from "node:crypto";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const pool = Buffer.alloc(4096);
let used = pool.length;

/** Sixteen random characters (80 bits), drawn from a pool so that the hot path does not ask the kernel each time. */
function randomPart(): string {
  if (used + 16 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let text = "";
  for (let index = 0; index < 16; index += 1) text += alphabet[pool[used + index]! & 31];
  used += 16;
  return text;
}

function timePart(ms: number): string {
  let text = "";
  let rest = ms;
  for (let index = 0; index < 10; index += 1) {
    text = alphabet[rest % 32]! + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** A new identifier such as `req_01jd...`: unique, unguessable (80 random bits), sortable by creation time. */
export function newId(prefix: string, nowMs: number = Date.now()): string {
  return `${prefix}_${timePart(nowMs)}${randomPart()}`;
}
