/**
 * Replaces the value of an API key. Its record stays: same id, name, caps, counters and creator.
 * docs/management.md. The old value works for a grace period, so that its holders can switch over.
 */
import { GatewayError, invalidValue } from "../base/errors.ts";
import { graceSecondsMax } from "../base/management.ts";
import { changeRow } from "./changes.ts";
import type { ChangeContext } from "./context.ts";
import { onlyRow } from "./context.ts";
import { generateKey, parseKey } from "./key-format.ts";
import type { KeyRow } from "./key-record.ts";
import { keyColumns, keyOfRow } from "./key-record.ts";
import type { KeyReference, KeyWithSecret } from "./keys.ts";
import { referenceParams, whereReference } from "./keys.ts";
import type { Secrets } from "./secrets.ts";

function checkGrace(graceSeconds: number): void {
  if (Number.isInteger(graceSeconds) && graceSeconds >= 0 && graceSeconds <= graceSecondsMax)
    return;
  throw invalidValue("grace_seconds", `must be an integer from 0 to ${graceSecondsMax}`);
}

/**
 * Gives a key a new value; the old value works for `graceSeconds` more. With 0 the old value fails at once, on every node. Only one
 * old value works at a time: a second rotation ends the grace of the first. A disabled key stays disabled. A legacy key that could
 * not be revealed can be revealed from now on.
 * @throws GatewayError `invalid_value` (grace), `conflict` (revoked), `not_found`
 */
export async function rotateKey(
  context: ChangeContext & { readonly secrets: Secrets },
  reference: KeyReference,
  { graceSeconds = 0 }: { readonly graceSeconds?: number | undefined } = {},
): Promise<KeyWithSecret> {
  checkGrace(graceSeconds);
  const key = generateKey();
  const hint = parseKey(key)!;
  const nowMs = context.clock.now();
  const row = await changeRow(context.database, "keys", async (tx) => {
    const found = await tx.query<KeyRow>(
      `select ${keyColumns} from api_keys where ${whereReference} for update`,
      referenceParams(reference),
    );
    const current = onlyRow(found, "API key");
    if (current.status === "revoked") {
      throw new GatewayError("conflict", "The API key is revoked and cannot get a new value.");
    }
    const rows = await tx.query<KeyRow>(
      `update api_keys set previous_lookup = lookup, previous_expires_at = $3, rotations = rotations + 1,
         lookup = $4, ciphertext = $5, key_prefix = $6, key_last4 = $7, updated_at = $8
       where id = $1 and workspace_id = $2
       returning ${keyColumns}`,
      [
        current.id,
        current.workspace_id,
        new Date(nowMs + graceSeconds * 1000),
        context.secrets.lookup(key),
        context.secrets.seal(current.id, key),
        hint.prefix,
        hint.last4,
        new Date(nowMs),
      ],
    );
    return onlyRow(rows, "API key");
  });
  return { record: keyOfRow(row), key };
}
