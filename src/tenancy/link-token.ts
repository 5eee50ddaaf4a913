/** Tokens that stand in a link and open one thing once: an invitation, a new password. Only a hash of them is kept. */
import { createHash, randomBytes } from "node:crypto";

const hashOf = (token: string): Buffer => createHash("sha256").update(token).digest();

/** A new token, to be shown once, and what is kept of it. `scheme` is what tokens of its kind begin with, such as `gw_inv_`. */
export function makeLinkToken(scheme: string): { readonly token: string; readonly hash: Buffer } {
  const token = scheme + randomBytes(32).toString("base64url");
  return { token, hash: hashOf(token) };
}

/** What would be kept of a token; undefined for a text that is none of this kind. */
export function linkTokenHash(scheme: string, text: string): Buffer | undefined {
  const isToken = text.startsWith(scheme) && /^[\w-]{43}$/.test(text.slice(scheme.length));
  return isToken ? hashOf(text) : undefined;
}
