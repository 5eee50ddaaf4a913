/**
 * Signatures of what a model thought, as vendors give them: opaque, and checked when they come back.
 * A gateway that loses, mixes up or alters them gets an error, as from a real vendor.
 */
import { createHash } from "node:crypto";

const mark = "sandbox-seal:";

/** A base64 signature of the content. */
export function seal(content: string): string {
  const digest = createHash("sha256").update(content).digest("hex").slice(0, 32);
  return Buffer.from(mark + digest).toString("base64");
}

/** Whether this is the sandbox's signature of exactly this content. */
export function isSealOf(signature: string, content: string): boolean {
  return signature === seal(content);
}

/** Whether it is a signature of the sandbox at all. */
export function isSeal(signature: string): boolean {
  return Buffer.from(signature, "base64").toString().startsWith(mark);
}
