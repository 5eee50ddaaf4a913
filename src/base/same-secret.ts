/** Comparison of secrets. */
import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** True if two secrets are equal; the time it takes does not depend on how much of one is right. */
export const isSameSecret = (left: string, right: string): boolean =>
  timingSafeEqual(digest(left), digest(right));
