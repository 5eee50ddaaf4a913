/**
 * Hashes end-user ids that the upstream refuses: too long ones, such as a coding agent's object of 150 characters, and e-mail addresses, as
 * chat frontends send them. Equal ids get equal hashes. Requirements: CONV.
 */
import { createHash } from "node:crypto";
import type { Fitting } from "./fit-fields.ts";

/** Claude: "user_id appears to contain an email address". The address may be within a longer id; both sides have at most 64 characters. */
const email = /[^\s@"]{1,64}@[^\s@"]{1,64}\.[^\s@"]/;

/** Replaces the end-user id by a hash and reports it. */
export function fitIds(fitting: Fitting): void {
  const { endUserIdMax, refusesEmailId } = fitting.target.limits;
  const { endUserId } = fitting.request;
  if (endUserId === undefined) return;
  const isLong = endUserId.length > endUserIdMax;
  if (!isLong && !(refusesEmailId && email.test(endUserId))) return;
  const refused = isLong
    ? `longer than the ${endUserIdMax} characters the upstream takes`
    : "the upstream refuses e-mail addresses here";
  const why = `${refused}, a hash stands for it`;
  fitting.note("endUserId", "rewritten", why);
  fitting.request = { ...fitting.request, endUserId: hashOf(endUserId) };
}

/** Returns a hash of 32 characters, which every vendor accepts. */
export const hashOf = (id: string): string =>
  createHash("sha256").update(id).digest("hex").slice(0, 32);
