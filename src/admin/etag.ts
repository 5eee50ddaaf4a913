/**
 * Entity tags: what an object's settings are, as a short hash. A change that names the tag it was decided on is refused
 * where the object is another by now, so that of two people who edit at once neither overwrites the other unseen.
 */
import { createHash } from "node:crypto";
import { GatewayError } from "../base/errors.ts";

/** The strong tag of a view: of its settings only, since what a key has spent changes by itself. */
export function etagOf(view: object): string {
  const hash = createHash("sha256").update(JSON.stringify(view)).digest("base64url");
  return `"${hash.slice(0, 27)}"`;
}

/**
 * Checks the `If-Match` header of a change; without one nothing is checked.
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
