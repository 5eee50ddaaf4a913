/**
 * The session of a conversation whose caller names none, where the operator says `prompt_caching: auto`. Its calls then stay with one
 * provider and credential: each has a prompt cache of its own, and a cache that is only written costs more than none. docs/decisions.md
 * "Prompt caches".
 */
import { createHash } from "node:crypto";
import { isObject } from "../base/json.ts";
import type { Catalog, TextOffer } from "../catalog/index.ts";
import { messagesField, type JsonObject } from "../protocols/index.ts";
import type { TextCall } from "./context.ts";
import { markingAt } from "./marks-sessions.ts";

/**
 * Returns a name that all calls of a conversation have in common: a hash of what was said before the first answer, and of the key. Undefined
 * for a call without an answer, and if the model's conversations are not marked.
 * @param model the id of the called model
 */
export function conversationOf(
  { protocol, caller }: Pick<TextCall, "protocol" | "caller">,
  body: JsonObject,
  model: string,
  catalog: Catalog,
): string | undefined {
  if (catalog.promptCaching !== "auto") return undefined;
  const called = catalog.models.get(model);
  if (called?.kind !== "text") return undefined;
  const marks = (offer: TextOffer): boolean =>
    markingAt(offer, called, protocol, catalog).marksConversations;
  if (!called.offers.some(marks)) return undefined;
  const turns = body[messagesField[protocol]];
  if (!Array.isArray(turns)) return undefined;
  const answer = turns.findIndex(isAnswer);
  if (answer < 1) return undefined;
  return createHash("sha256")
    .update(JSON.stringify([caller.keyId, turns.slice(0, answer)]))
    .digest("base64url");
}

/** In responses also what the model did beside its messages, such as calls and reasoning. */
function isAnswer(turn: unknown): boolean {
  if (!isObject(turn)) return false;
  const { role, type } = turn;
  if (role === undefined) return typeof type === "string" && type !== "message";
  return role === "assistant" || role === "model";
}
