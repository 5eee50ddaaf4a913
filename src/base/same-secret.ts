/** Comparing secrets. */
import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Whether two secrets are the same; the time it takes tells nothing about how much of one is right. */
export const isSameSecret = (left: string, right: string): boolean =>
  timingSafeEqual(digest(left), digest(right));
