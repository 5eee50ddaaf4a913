/**
 * The secrets derived from the master keys that a process holds. They are the pepper for key lookups, the key that encrypts API keys
 * for display, the key that signs temporary values, and the callback signing secrets. During a rotation a process holds two master
 * keys. Requirements: KEY; docs/decisions.md "Key format"; docs/security.md "The master key".
 */
import { createHmac } from "node:crypto";
import { sealedUnder, type DerivedKeys, type SealedKind } from "./derived-keys.ts";

/** Keys are held in closures: an accidental log line or JSON shows none. */
export interface Secrets {
  /** HMAC-SHA-256 of an API key under the pepper. The unique index holds it instead of the key. */
  lookup(key: string): Buffer;
  /** HMAC-SHA-256 of the content of a temporary value, under its own secret. */
  temporarySignature(text: string): Buffer;
  /** The signature under each held master key: a value signed by any of them is valid. */
  temporarySignatures(text: string): Buffer[];
  /** Encrypts an API key or a provider's settings, to be read again, bound to its record. */
  seal(recordId: string, key: string): Buffer;
  /** Reverses `seal`. @throws when the bytes were altered, belong to another record, or were sealed by a master key that is not held. */
  unseal(recordId: string, ciphertext: Uint8Array): string;
  /** Seals bytes of another kind, such as kept bodies, under their own key and bound to a name. */
  sealBytes(name: string, bytes: Uint8Array): Buffer;
  /** Reverses `sealBytes`. @throws as `unseal` */
  unsealBytes(name: string, sealed: Uint8Array): Buffer;
  /**
   * The callback signing secret of a workspace: `whsec_` and 32 bytes in base64 (KEY-14, KEY-15).
   * @param check the check value of the master key to derive it from; absent: the one in force. @throws if that key is not held
   */
  signingSecret(workspaceId: string, version: number, check?: string): string;
  /** The bearer token of `/admin/v1` if the environment sets none: the same on every node. */
  adminToken(): string;
  /** The admin token of each held master key. */
  adminTokens(): string[];
  /** Signs the cookies of console sessions. */
  sessionSecret(): string;
  /** The ids of the master keys: the one that seals new values, and all that are held, newest first. */
  masterKeys(): { readonly sealing: string; readonly held: readonly string[] };
  /** Distinguishes master keys without revealing anything about them. */
  readonly checkValue: string;
}

/** Secrets that a master key rotation keeps: they open no sealed value, and values made with them cannot be made again. */
export interface RetainedSecrets {
  readonly pepper: Buffer;
  readonly sessionSecret: string;
}

/** The master keys that a process holds. */
export interface Keyring {
  /** Newest first. */
  readonly held: readonly DerivedKeys[];
  /** The key that the database is under; it seals new values. */
  readonly active: DerivedKeys;
  /** True if sealed values name their key. False before the first rotation, so that earlier versions can read them. */
  readonly marked: boolean;
  readonly kept: RetainedSecrets;
}

/**
 * The stored form of a check value. From the first rotation on it is marked, so that versions without rotation do not take it for
 * their own.
 */
export const checkNameOf = ({ checkValue }: DerivedKeys, marked: boolean): string =>
  marked ? `2.${checkValue}` : checkValue;

/** The held key that a stored check value belongs to. */
export const keyOfCheck = (held: readonly DerivedKeys[], stored: string): DerivedKeys | undefined =>
  held.find(({ checkValue }) => stored.replace(/^2\./, "") === checkValue);

/** The kept secrets of an installation whose master key was never rotated. */
export const retainedOf = (keys: DerivedKeys): RetainedSecrets => ({
  pepper: keys.pepper(),
  sessionSecret: keys.sessionSecret(),
});

function unsealWithAny(ring: Keyring, kind: SealedKind, name: string, sealed: Uint8Array): Buffer {
  const id = sealedUnder(sealed);
  const able = id === undefined ? ring.held : ring.held.filter((keys) => keys.id === id);
  let refusal: unknown = new Error(`sealed by the master key ${id}, which is not held here`);
  for (const keys of able) {
    try {
      return keys.unseal(kind, name, sealed);
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}

const macOf = (key: Uint8Array, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

/** Creates secrets on a keyring. They call `ring` at each use, because the keyring may change while the process runs. */
export function secretsOf(ring: () => Keyring): Secrets {
  const seal = (kind: SealedKind, name: string, bytes: Uint8Array): Buffer => {
    const { active, marked } = ring();
    return active.seal(kind, name, bytes, marked);
  };
  return {
    lookup: (key) => macOf(ring().kept.pepper, key),
    temporarySignature: (text) => macOf(ring().active.temporaryKey(), text),
    temporarySignatures: (text) => ring().held.map((keys) => macOf(keys.temporaryKey(), text)),
    seal: (recordId, key) => seal("text", recordId, Buffer.from(key)),
    unseal: (recordId, sealed) => unsealWithAny(ring(), "text", recordId, sealed).toString("utf8"),
    sealBytes: (name, bytes) => seal("body", name, bytes),
    unsealBytes: (name, sealed) => unsealWithAny(ring(), "body", name, sealed),
    signingSecret(workspaceId, version, check) {
      const { held, active } = ring();
      const keys = check === undefined ? active : keyOfCheck(held, check);
      if (keys === undefined) throw new Error("the master key of this database is not held here");
      return keys.signingSecret(workspaceId, version);
    },
    adminToken: () => ring().active.adminToken(),
    adminTokens: () => ring().held.map((keys) => keys.adminToken()),
    sessionSecret: () => ring().kept.sessionSecret,
    masterKeys: () => ({ sealing: ring().active.id, held: ring().held.map(({ id }) => id) }),
    get checkValue() {
      return ring().active.checkValue;
    },
  };
}
