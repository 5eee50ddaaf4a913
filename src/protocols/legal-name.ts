/** A name that a vendor takes in place of one that it refuses: the same one for the same name, in every turn. */
import { createHash } from "node:crypto";

interface LegalRules {
  /** Characters that are not taken. */
  readonly other: RegExp;
  /** The most characters of a name. */
  readonly max: number;
  readonly taken: ReadonlySet<string>;
}

const hashCharacters = 8;

/** The name with `_` for what is not taken; cut, and with a hash of the whole, where that is too long or taken. */
export function legalName(name: string, { other, max, taken }: LegalRules): string {
  const plain = name.replace(other, "_").replace(/^[^a-zA-Z_]|^$/, "_$&");
  if (plain.length <= max && !taken.has(plain)) return plain;
  return hashedName(plain.slice(0, max - hashCharacters - 1), name, taken);
}

/** `start` with a hash of what it stands for, unlike every name that is taken. */
export function hashedName(start: string, of: string, taken: ReadonlySet<string>): string {
  for (let salt = 0; ; salt += 1) {
    const hash = createHash("sha256").update(`${salt} ${of}`).digest("hex");
    const name = `${start}_${hash.slice(0, hashCharacters)}`;
    if (!taken.has(name)) return name;
  }
}
