/** Tokens in a link that work once: for an invitation or a new password. Only their hash is stored. */
import { createHash, randomBytes } from "node:crypto";

const hashOf = (token: string): Buffer => createHash("sha256").update(token).digest();

/** Makes a new token, to be shown once, and its hash to store. `scheme` is the prefix of its kind, such as `gw_inv_`. */
export function makeLinkToken(scheme: string): { readonly token: string; readonly hash: Buffer } {
  const token = scheme + randomBytes(32).toString("base64url");
  return { token, hash: hashOf(token) };
}

/** The hash under which a token is stored; undefined if the text is no token of this kind. */
export function linkTokenHash(scheme: string, text: string): Buffer | undefined {
  const isToken = text.startsWith(scheme) && /^[\w-]{43}$/.test(text.slice(scheme.length));
  return isToken ? hashOf(text) : undefined;
}
