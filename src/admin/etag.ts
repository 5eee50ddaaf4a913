/**
 * Entity tags: a short hash of an object's settings. A change with `If-Match` is refused if the object has changed since. So of two
 * people who edit at once, neither overwrites the other unseen.
 */
import { createHash } from "node:crypto";
import { GatewayError } from "../base/errors.ts";

/** Returns the strong tag of a view. It covers only the settings, since a key's spend changes by itself. */
export function etagOf(view: object): string {
  const hash = createHash("sha256").update(JSON.stringify(view)).digest("base64url");
  return `"${hash.slice(0, 27)}"`;
}

/**
 * Checks the `If-Match` header of a change; without the header, every change passes.
 * @throws GatewayError 412 `precondition_failed`
 */
export function checkIfMatch(ifMatch: string | undefined, view: object): void {
  if (ifMatch === undefined || ifMatch.trim() === "*") return;
  const tags = ifMatch.split(",").map((tag) => tag.trim());
  if (tags.includes(etagOf(view))) return;
  throw new GatewayError(
    "precondition_failed",
    "The object was changed since you read it. Read it again and decide anew.",
  );
}
