/**
 * What is derived from the master key: the pepper that keys are looked up by, the key that encrypts them for display,
 * what signs their temporary values, and the callback signing secrets. Requirements: KEY; docs/decisions.md "Key format".
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import type { Queryable } from "../storage/index.ts";
import { loadMasterKey, MasterKeyError } from "./master-key.ts";

/** Holds its keys in closures: an accidental log line or JSON of it shows nothing. */
export interface Secrets {
  /** HMAC-SHA-256 of an API key under the pepper: what the unique index holds instead of the key. */
  lookup(key: string): Buffer;
  /** HMAC-SHA-256 of what a temporary value of a key says, under a secret of its own. */
  temporarySignature(text: string): Buffer;
  /** An API key or a provider's settings, encrypted to be read again, bound to the record that they belong to. */
  seal(recordId: string, key: string): Buffer;
  /** Undoes `seal`. @throws when the bytes were altered or belong to another record. */
  unseal(recordId: string, ciphertext: Uint8Array): string;
  /** Bytes of another kind, such as kept bodies, sealed under a key of their own and bound to a name. */
  sealBytes(name: string, bytes: Uint8Array): Buffer;
  /** Undoes `sealBytes`. @throws when the bytes were altered or belong to another name. */
  unsealBytes(name: string, sealed: Uint8Array): Buffer;
  /** The callback signing secret of a workspace: `whsec_` and 32 bytes in base64 (KEY-14, KEY-15). */
  signingSecret(workspaceId: string, version: number): string;
  /** The bearer of `/admin/v1` where the environment names none: the same on every node. */
  adminToken(): string;
  /** What signs the cookies of console sessions. */
  sessionSecret(): string;
  /** Tells two master keys apart without telling anything about either. */
  readonly checkValue: string;
}

const sealVersion = 1;
const nonceLength = 12;
const tagLength = 16;

function sealWith(key: Uint8Array, name: string, bytes: Uint8Array): Buffer {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(name));
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([Buffer.of(sealVersion), nonce, body, cipher.getAuthTag()]);
}

function unsealWith(key: Uint8Array, name: string, sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed);
  if (bytes.length < 1 + nonceLength + tagLength || bytes[0] !== sealVersion) {
    throw new Error("not sealed");
  }
  const nonce = bytes.subarray(1, 1 + nonceLength);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagLength });
  decipher.setAAD(Buffer.from(name));
  decipher.setAuthTag(bytes.subarray(-tagLength));
  const body = bytes.subarray(1 + nonceLength, -tagLength);
  return Buffer.concat([decipher.update(body), decipher.final()]);
}

/** The secrets of one master key (32 bytes), without a database. */
export function deriveSecrets(masterKey: Uint8Array): Secrets {
  const derive = (salt: string, info: string) =>
    Buffer.from(hkdfSync("sha256", masterKey, salt, info, 32));
  const pepper = derive("", "api-key-lookup-v1");
  const displayKey = derive("", "api-key-display-v1");
  const temporaryKey = derive("", "temporary-key-v1");
  const bodyKey = derive("", "request-body-v1");
  return {
    lookup: (key) => createHmac("sha256", pepper).update(key).digest(),
    temporarySignature: (text) => createHmac("sha256", temporaryKey).update(text).digest(),
    seal: (recordId, key) => sealWith(displayKey, recordId, Buffer.from(key)),
    unseal: (recordId, sealed) => unsealWith(displayKey, recordId, sealed).toString("utf8"),
    sealBytes: (name, bytes) => sealWith(bodyKey, name, bytes),
    unsealBytes: (name, sealed) => unsealWith(bodyKey, name, sealed),
    signingSecret(workspaceId, version) {
      const bytes = derive(workspaceId, `webhook-signing-v${version}`);
      // Padded standard base64: what the libraries of Standard Webhooks decode.
      return `whsec_${bytes.toString("base64")}`;
    },
    adminToken: () => `gw_admin_${derive("", "admin-token-v1").toString("base64url")}`,
    sessionSecret: () => derive("", "console-sessions-v1").toString("base64url"),
    checkValue: derive("", "master-key-check-v1").toString("base64url"),
  };
}

export interface SecretsOptions {
  readonly database: Queryable;
  /** The value of TOLLGATE_MASTER_KEY; empty counts as absent. */
  readonly masterKey?: string | undefined;
  /** Where the master key is kept, and at the first start generated, when the environment has none. */
  readonly dataDir: string;
}

/**
 * The secrets of this installation, after checking that the database was set up with the same master key; the first
 * start stores the check value. Without the check, another master key would look as if every API key had become unknown.
 * @throws MasterKeyError when there is no usable master key, or it is not the one of this database.
 */
export async function openSecrets(options: SecretsOptions): Promise<Secrets> {
  const { database } = options;
  const secrets = deriveSecrets(await loadMasterKey(options));
  await database.query(
    "insert into settings (name, value) values ('master_key_check', $1::jsonb) on conflict (name) do nothing",
    [JSON.stringify(secrets.checkValue)],
  );
  const [row] = await database.query<{ value: string }>(
    "select value from settings where name = 'master_key_check'",
  );
  const stored = Buffer.from(row?.value ?? "");
  const own = Buffer.from(secrets.checkValue);
  if (stored.length !== own.length || !timingSafeEqual(stored, own)) {
    throw new MasterKeyError(
      "The master key is not the one this database was set up with, so no API key could be recognised and no provider's key be read. " +
        "Set TOLLGATE_MASTER_KEY to the original value, or restore the file `master-key` in the data directory.",
    );
  }
  return secrets;
}
