/** Replaces a name that a vendor refuses. The same name gets the same replacement in every turn. */
import { createHash } from "node:crypto";

interface LegalRules {
  /** Matches the characters that the vendor refuses. */
  readonly other: RegExp;
  /** Longest name, in characters. */
  readonly max: number;
  readonly taken: ReadonlySet<string>;
}

const hashCharacters = 8;

/** Returns the name with `_` for refused characters. If it is too long or taken, it is cut and gets a hash of the whole name. */
export function legalName(name: string, { other, max, taken }: LegalRules): string {
  const plain = name.replace(other, "_").replace(/^[^a-zA-Z_]|^$/, "_$&");
  if (plain.length <= max && !taken.has(plain)) return plain;
  return hashedName(plain.slice(0, max - hashCharacters - 1), name, taken);
}

/** Returns `start` with a hash of the full name `of`, different from every taken name. */
export function hashedName(start: string, of: string, taken: ReadonlySet<string>): string {
  for (let salt = 0; ; salt += 1) {
    const hash = createHash("sha256").update(`${salt} ${of}`).digest("hex");
    const name = `${start}_${hash.slice(0, hashCharacters)}`;
    if (!taken.has(name)) return name;
  }
}
