/**
 * Hashes end-user ids that are too long for the upstream: a coding agent's is an object of 150 characters. Equal ids get equal hashes.
 * Requirements: CONV.
 */
import { createHash } from "node:crypto";
import type { Fitting } from "./fit-fields.ts";

/** Shortens the end-user id and reports it. */
export function fitIds(fitting: Fitting): void {
  const { endUserIdMax } = fitting.target.limits;
  const { endUserId } = fitting.request;
  if (endUserId === undefined || endUserId.length <= endUserIdMax) return;
  const why = `longer than the ${endUserIdMax} characters the upstream takes, a hash stands for it`;
  fitting.note("endUserId", "rewritten", why);
  fitting.request = { ...fitting.request, endUserId: hashOf(endUserId) };
}

/** Returns a hash of 32 characters, which every vendor accepts. */
export const hashOf = (id: string): string =>
  createHash("sha256").update(id).digest("hex").slice(0, 32);
