/** Secrets without a database, for tests. */
import { deriveKeys } from "../../src/tenancy/derived-keys.ts";
import { retainedOf, secretsOf, type Secrets } from "../../src/tenancy/secrets.ts";

/** The secrets of one master key (32 bytes) that was never rotated. */
export function deriveSecrets(masterKey: Uint8Array): Secrets {
  const keys = deriveKeys(masterKey);
  const ring = { held: [keys], active: keys, marked: false, kept: retainedOf(keys) };
  return secretsOf(() => ring);
}
