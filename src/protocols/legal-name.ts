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
  let short = plain;
  for (let salt = 0; short.length > max || taken.has(short); salt += 1) {
    const hash = createHash("sha256").update(`${salt} ${name}`).digest("hex");
    short = `${plain.slice(0, max - hashCharacters - 1)}_${hash.slice(0, hashCharacters)}`;
  }
  return short;
}
