/**
 * Temporary values of an API key: for a browser that calls with the key for some minutes and never holds the key itself. A value is
 * `gw_temp_`, the key's id, the index of the key's value, and the expiry (ms since the epoch). It ends with an HMAC of all that
 * under its own secret. There is no row. The id is looked up in the same caches as the key's own value, so everything that ends the
 * key's value ends this one too. KEY; docs/management.md.
 */
import { timingSafeEqual } from "node:crypto";
import { GatewayError, invalidValue } from "../base/errors.ts";
import { temporarySecondsMax } from "../base/management.ts";
import { base62OfBytes } from "./base62.ts";
import type { RowContext } from "./context.ts";
import { onlyRow } from "./context.ts";
import type { KeyRecord, KeyRow } from "./key-record.ts";
import { keyColumns, keyOfRow } from "./key-record.ts";
import type { KeyReference } from "./keys.ts";
import { referenceParams, whereReference } from "./keys.ts";
import type { Secrets } from "./secrets.ts";

const scheme = "gw_temp_";
const macLength = 43;
const shape = /^gw_temp_(key_[0-9a-z]{1,40})_([0-9]{1,9})_([0-9]{13})_[0-9A-Za-z]{43}$/;

/** The content of a temporary value. */
export interface TemporaryValue {
  readonly keyId: string;
  /** Index of the key's value: the number of rotations before it. */
  readonly rotation: number;
  /** By the database's clock. */
  readonly expiresAtMs: number;
}

type Signing = Pick<Secrets, "temporarySignature">;
type Reading = Pick<Secrets, "temporarySignatures">;

/** True if a credential has the prefix of temporary values; no API key has it. */
export const isTemporary = (text: string): boolean => text.startsWith(scheme);

/** The text of a temporary value. */
export function signTemporary(secrets: Signing, value: TemporaryValue): string {
  const body = bodyOf(value);
  return withMac(body, secrets.temporarySignature(body));
}

const bodyOf = ({ keyId, rotation, expiresAtMs }: TemporaryValue): string =>
  `${scheme}${keyId}_${rotation}_${expiresAtMs}`;
const withMac = (body: string, mac: Buffer): string => `${body}_${base62OfBytes(mac, macLength)}`;

/** The content of a text that this installation signed; undefined for any other. The work does not depend on which character is wrong. */
export function readTemporary(secrets: Reading, text: string): TemporaryValue | undefined {
  const [, keyId, rotation, expiresAtMs] = shape.exec(text) ?? [];
  if (keyId === undefined) return undefined;
  const value = { keyId, rotation: Number(rotation), expiresAtMs: Number(expiresAtMs) };
  // Compares the whole text rewritten, because each value has exactly one spelling.
  const body = bodyOf(value);
  const given = Buffer.from(text);
  const isSigned = secrets.temporarySignatures(body).some((mac) => {
    const expected = Buffer.from(withMac(body, mac));
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
  return isSigned ? value : undefined;
}

interface IssuingRow extends KeyRow {
  readonly rotations: number;
  readonly now_ms: string;
}

function checkTtl(ttlSeconds: number): void {
  if (Number.isInteger(ttlSeconds) && ttlSeconds >= 1 && ttlSeconds <= temporarySecondsMax) return;
  throw invalidValue("ttl_s", `must be an integer from 1 to ${temporarySecondsMax}`);
}

/**
 * Issues a temporary value of an active key, for at most `ttlSeconds` and never beyond the key's expiry. The caller has checked the
 * right to see the key. The time is the database's, so that gateways whose clocks differ agree on it.
 * @throws GatewayError `invalid_value` (time), `conflict` (key not active, or expired), `not_found`
 */
export async function issueTemporary(
  context: RowContext & { readonly secrets: Signing },
  reference: KeyReference,
  ttlSeconds: number,
): Promise<{ readonly record: KeyRecord; readonly key: string; readonly expiresAt: Date }> {
  checkTtl(ttlSeconds);
  const rows = await context.database.query<IssuingRow>(
    `select ${keyColumns}, rotations, floor(extract(epoch from now()) * 1000)::text as now_ms
     from api_keys where ${whereReference}`,
    referenceParams(reference),
  );
  const row = onlyRow(rows, "API key");
  const record = keyOfRow(row);
  const nowMs = Number(row.now_ms);
  const endMs = record.expiresAt?.getTime() ?? Infinity;
  if (record.status !== "active" || endMs <= nowMs) {
    const state = record.status === "active" ? "expired" : record.status;
    throw new GatewayError("conflict", `The API key is ${state}, so no value of it can work.`);
  }
  const expiresAtMs = Math.min(nowMs + ttlSeconds * 1000, endMs);
  const key = signTemporary(context.secrets, {
    keyId: record.id,
    rotation: row.rotations,
    expiresAtMs,
  });
  return { record, key, expiresAt: new Date(expiresAtMs) };
}
