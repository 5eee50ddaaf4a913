/**
 * The keys derived from one master key, and sealing under them. A value sealed under the first master key of an installation is `1,
 * nonce, text, tag`. Under every later one it is `2, id of the key, nonce, text, tag`. docs/security.md.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

/** Everything derived from one master key. Keys are held in closures, so that log lines and JSON never show them. */
export interface DerivedKeys {
  /** Eight hexadecimal digits that identify the master key and reveal nothing about it. */
  readonly id: string;
  /** Distinguishes master keys without revealing anything about them. */
  readonly checkValue: string;
  /** The key of the HMAC by which API keys and personal tokens are looked up. */
  pepper(): Buffer;
  /** The key of the HMAC of temporary values. */
  temporaryKey(): Buffer;
  sessionSecret(): string;
  adminToken(): string;
  /** `whsec_` and 32 bytes in padded standard base64, as Standard Webhooks libraries decode it (KEY-14, KEY-15). */
  signingSecret(workspaceId: string, version: number): string;
  /** Seals bytes, bound to `name`. `marked`: puts the master key's id in front. */
  seal(kind: SealedKind, name: string, bytes: Uint8Array, marked: boolean): Buffer;
  /** Reverses `seal`. @throws if the value was sealed by another key, under another name, or altered */
  unseal(kind: SealedKind, name: string, sealed: Uint8Array): Buffer;
}

/** Each kind is sealed with its own key: texts that are shown or used again, and kept bodies. */
export type SealedKind = "text" | "body";

const plainVersion = 1;
const markedVersion = 2;
const idLength = 4;
const nonceLength = 12;
const tagLength = 16;

/** The id of the master key that a sealed value names; undefined if it names none, which means the first one. */
export const sealedUnder = (sealed: Uint8Array): string | undefined =>
  sealed[0] === markedVersion
    ? Buffer.from(sealed.subarray(1, 1 + idLength)).toString("hex")
    : undefined;

/** The prefix of every marked value that was sealed under the key `id`. */
export const sealMark = (id: string): Buffer =>
  Buffer.concat([Buffer.of(markedVersion), Buffer.from(id, "hex")]);

function sealWith(key: Uint8Array, head: Buffer, name: string, bytes: Uint8Array): Buffer {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(name));
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([head, nonce, body, cipher.getAuthTag()]);
}

function unsealWith(key: Uint8Array, name: string, sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed);
  const headLength = bytes[0] === markedVersion ? 1 + idLength : 1;
  const isKnown = bytes[0] === plainVersion || bytes[0] === markedVersion;
  if (!isKnown || bytes.length < headLength + nonceLength + tagLength)
    throw new Error("not sealed");
  const nonceEnd = headLength + nonceLength;
  const nonce = bytes.subarray(headLength, nonceEnd);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagLength });
  decipher.setAAD(Buffer.from(name));
  decipher.setAuthTag(bytes.subarray(-tagLength));
  return Buffer.concat([decipher.update(bytes.subarray(nonceEnd, -tagLength)), decipher.final()]);
}

/** Derives all keys from a master key of 32 bytes. */
export function deriveKeys(masterKey: Uint8Array): DerivedKeys {
  const derive = (salt: string, info: string) =>
    Buffer.from(hkdfSync("sha256", masterKey, salt, info, 32));
  const sealing: Readonly<Record<SealedKind, Buffer>> = {
    text: derive("", "api-key-display-v1"),
    body: derive("", "request-body-v1"),
  };
  const pepper = derive("", "api-key-lookup-v1");
  const temporaryKey = derive("", "temporary-key-v1");
  const checkValue = derive("", "master-key-check-v1").toString("base64url");
  const id = createHash("sha256")
    .update(checkValue)
    .digest("hex")
    .slice(0, 2 * idLength);
  return {
    id,
    checkValue,
    pepper: () => pepper,
    temporaryKey: () => temporaryKey,
    sessionSecret: () => derive("", "console-sessions-v1").toString("base64url"),
    adminToken: () => `gw_admin_${derive("", "admin-token-v1").toString("base64url")}`,
    signingSecret(workspaceId, version) {
      const bytes = derive(workspaceId, `webhook-signing-v${version}`);
      return `whsec_${bytes.toString("base64")}`;
    },
    seal: (kind, name, bytes, marked) =>
      sealWith(sealing[kind], marked ? sealMark(id) : Buffer.of(plainVersion), name, bytes),
    unseal: (kind, name, sealed) => unsealWith(sealing[kind], name, sealed),
  };
}
