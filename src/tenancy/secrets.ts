/**
 * What is derived from the master keys that a process holds: the pepper that keys are looked up by, the key that encrypts
 * them for display, what signs their temporary values, and the callback signing secrets. While the master key is replaced
 * a process holds two. Requirements: KEY; docs/decisions.md "Key format"; docs/security.md "The master key".
 */
import { createHmac } from "node:crypto";
import { deriveKeys, sealedUnder, type DerivedKeys, type SealedKind } from "./derived-keys.ts";

/** Holds its keys in closures: an accidental log line or JSON of it shows nothing. */
export interface Secrets {
  /** HMAC-SHA-256 of an API key under the pepper: what the unique index holds instead of the key. */
  lookup(key: string): Buffer;
  /** HMAC-SHA-256 of what a temporary value of a key says, under a secret of its own. */
  temporarySignature(text: string): Buffer;
  /** The same under each master key that is held: a value that any of them signed is good. */
  temporarySignatures(text: string): Buffer[];
  /** An API key or a provider's settings, encrypted to be read again, bound to the record that they belong to. */
  seal(recordId: string, key: string): Buffer;
  /** Undoes `seal`. @throws when the bytes were altered, belong to another record, or were sealed by a master key that is not held. */
  unseal(recordId: string, ciphertext: Uint8Array): string;
  /** Bytes of another kind, such as kept bodies, sealed under a key of their own and bound to a name. */
  sealBytes(name: string, bytes: Uint8Array): Buffer;
  /** Undoes `sealBytes`. @throws as `unseal` */
  unsealBytes(name: string, sealed: Uint8Array): Buffer;
  /**
   * The callback signing secret of a workspace: `whsec_` and 32 bytes in base64 (KEY-14, KEY-15).
   * @param check the check value of the master key to derive it from; absent: the one in force. @throws where that is not held
   */
  signingSecret(workspaceId: string, version: number, check?: string): string;
  /** The bearer of `/admin/v1` where the environment names none: the same on every node. */
  adminToken(): string;
  /** The same of each master key that is held. */
  adminTokens(): string[];
  /** What signs the cookies of console sessions. */
  sessionSecret(): string;
  /** The ids of the master keys: the one that new values are sealed under, and all that are held, the newest first. */
  masterKeys(): { readonly sealing: string; readonly held: readonly string[] };
  /** Tells two master keys apart without telling anything about either. */
  readonly checkValue: string;
}

/** What stays as it was when the master key is replaced: it opens nothing by itself, and what it made cannot be made again. */
export interface KeptSecrets {
  readonly pepper: Buffer;
  readonly sessionSecret: string;
}

/** The master keys that a process holds. */
export interface Keyring {
  /** The newest first. */
  readonly held: readonly DerivedKeys[];
  /** The one that the database is under: new values are sealed with it. */
  readonly active: DerivedKeys;
  /** Whether sealed values name their key; not before the first rotation, so that earlier versions can read them. */
  readonly marked: boolean;
  readonly kept: KeptSecrets;
}

/** The name that a stored check value goes by; from the first rotation on no version without rotation takes it for its own. */
export const checkNameOf = ({ checkValue }: DerivedKeys, marked: boolean): string =>
  marked ? `2.${checkValue}` : checkValue;

/** The key of a ring that a stored check value means. */
export const keyOfCheck = (held: readonly DerivedKeys[], stored: string): DerivedKeys | undefined =>
  held.find(({ checkValue }) => stored.replace(/^2\./, "") === checkValue);

/** What stays, of an installation whose master key was never replaced. */
export const keptOf = (keys: DerivedKeys): KeptSecrets => ({
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

/** The secrets of a ring, which is asked for at each use: it may change while the process runs. */
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

/** The secrets of one master key (32 bytes), without a database: for tests. */
export function deriveSecrets(masterKey: Uint8Array): Secrets {
  const keys = deriveKeys(masterKey);
  const ring = { held: [keys], active: keys, marked: false, kept: keptOf(keys) };
  return secretsOf(() => ring);
}
