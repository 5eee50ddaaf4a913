/**
 * End-user ids that are longer than the upstream takes: a coding agent's is an object of 150 characters. A hash stands for it, the same
 * for the same id. Requirements: CONV.
 */
import { createHash } from "node:crypto";
import type { Fitting } from "./fit-fields.ts";

/** Shortens the end-user id, which is reported. */
export function fitIds(fitting: Fitting): void {
  const { endUserIdMax } = fitting.target.limits;
  const { endUserId } = fitting.request;
  if (endUserId === undefined || endUserId.length <= endUserIdMax) return;
  const why = `longer than the ${endUserIdMax} characters the upstream takes, a hash stands for it`;
  fitting.note("endUserId", "rewritten", why);
  fitting.request = { ...fitting.request, endUserId: hashOf(endUserId) };
}

/** 32 characters that every vendor takes. */
export const hashOf = (id: string): string =>
  createHash("sha256").update(id).digest("hex").slice(0, 32);
