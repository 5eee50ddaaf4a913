/**
 * The headers for creating a task: only once (`Idempotency-Key`), and how long to wait (`Prefer`). docs/decisions.md "Idempotency",
 * docs/decisions.md "Creation".
 */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { GatewayError } from "../../base/errors.ts";
import { exactTwinOf, isRawNumber } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";

/** The key of an idempotent call; undefined without one. @throws GatewayError `invalid_value` */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const value = headers["idempotency-key"];
  if (value === undefined) return undefined;
  if (typeof value === "string" && /^[\x20-\x7e]{1,255}$/.test(value)) return value;
  throw new GatewayError(
    "invalid_value",
    "The header Idempotency-Key must have 1 to 255 printable ASCII characters.",
    { param: "Idempotency-Key" },
  );
}

/** SHA-256, in hex, of what a replay must repeat. The order of object members does not count; all digits of numbers do. */
export function fingerprint(method: string, path: string, content: unknown): string {
  const inOrder = (_name: string, value: unknown): unknown =>
    isObject(value) && !isRawNumber(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  const text = JSON.stringify([method, path, exactTwinOf(content)], inOrder);
  return createHash("sha256").update(text).digest("hex");
}

const waitSecondsMax = 60;

/**
 * Seconds that the caller waits for the result (`Prefer: wait=N`, RFC 7240), at most 60; undefined if it does not wait. `wait` without
 * a number means 60; 0 and malformed values are ignored. The first `wait` counts.
 */
export function waitSecondsOf(headers: IncomingHttpHeaders): number | undefined {
  const preferences = [headers["prefer"] ?? []].flat().join(",").split(",");
  // Split first, and match no two adjacent runs of blanks: backtracking over a header of blanks would block the process.
  const found = preferences
    .map((one) => /^wait(?:\s*=\s*"?([^";\s]*)"?)?$/i.exec(one.split(";", 1)[0]!.trim()))
    .find((one) => one !== null);
  if (found === undefined) return undefined;
  const [, value = ""] = found;
  if (value === "") return waitSecondsMax;
  const seconds = /^\d+$/.test(value) ? Number(value) : 0;
  return seconds === 0 ? undefined : Math.min(seconds, waitSecondsMax);
}
