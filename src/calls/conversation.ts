/**
 * The session of a conversation whose caller names none, where the operator says `prompt_caching: auto`. Its calls then stay with one
 * provider and credential: each has a prompt cache of its own, and a cache that is only written costs more than none. docs/decisions.md
 * "Prompt caches".
 */
import { createHash } from "node:crypto";
import { isObject } from "../base/json.ts";
import { jsonSlices } from "../base/json-write.ts";
import type { Catalog, TextOffer } from "../catalog/index.ts";
import { messagesField, type JsonObject } from "../protocols/index.ts";
import type { TextCall } from "./context.ts";
import { markingAt } from "./marks-sessions.ts";

/** The characters that are hashed, about: conversations that are alike for longer share most of their cache. */
const hashedMax = 1_048_576;

/**
 * Returns the name that all calls of a conversation have in common at a model. It is a hash of what was said before the first answer to the
 * user, and of the key. Undefined for a call without an answer, and if the model's conversations are not marked.
 */
export function conversationOf(
  { protocol, caller }: Pick<TextCall, "protocol" | "caller">,
  body: JsonObject,
  catalog: Catalog,
): (model: string) => string | undefined {
  if (catalog.promptCaching !== "auto") return () => undefined;
  let name: string | undefined;
  return (model) => {
    const called = catalog.models.get(model);
    if (called?.kind !== "text") return undefined;
    const marks = (offer: TextOffer): boolean =>
      markingAt(offer, called, protocol, catalog).marksConversations;
    if (!called.offers.some(marks)) return undefined;
    const beginning = beginningIn(body[messagesField[protocol]]);
    if (beginning !== undefined) name ??= hashOf([caller.keyId, beginning]);
    return name;
  };
}

/** The turns before the first answer to the user; undefined without one. A greeting before the user's first turn is no answer to it. */
function beginningIn(turns: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(turns)) return undefined;
  const question = turns.findIndex((turn) => speakerOf(turn) === "user");
  if (question < 0) return undefined;
  const answer = turns.findIndex((turn, at) => at > question && speakerOf(turn) === "model");
  return answer < 0 ? undefined : turns.slice(0, answer);
}

/** In responses all that the model did beside its messages, such as calls and reasoning, is an item without a role. */
function speakerOf(turn: unknown): "model" | "system" | "user" {
  if (!isObject(turn)) return "user";
  const { role, type } = turn;
  if (role === "system" || role === "developer") return "system";
  const isItem = role === undefined && typeof type === "string" && type !== "message";
  return isItem || role === "assistant" || role === "model" ? "model" : "user";
}

function hashOf(value: unknown): string {
  const hash = createHash("sha256");
  let length = 0;
  for (const slice of jsonSlices(value)) {
    hash.update(slice);
    length += slice.length;
    if (length > hashedMax) break;
  }
  return hash.digest("base64url");
}
