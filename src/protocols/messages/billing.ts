/**
 * Claude Code's billing line on the direct route. Vendors, routers and self-hosted servers also serve other models in this protocol. A
 * model without a known name of another vendor may be Claude, and gets the line. T36.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import { billingDetail, withoutBillingLine } from "../billing-line.ts";
import type { Json, JsonObject } from "../canonical/request.ts";

/** Matches models of other vendors by name. */
const otherVendorModels =
  /(?:^|[/._-])(?:codestral|deepseek|devstral|doubao|ernie|gemini|gemma|glm|gpt|grok|hunyuan|kimi|llama|longcat|magistral|mimo|minimax|ministral|mistral|nemotron|phi|qwen|seed|step)/i;

/** Removes the line from the system prompt of `body`, a copy of the caller's, if `model` is another vendor's. */
export function removeBillingLine(body: JsonObject, model: string): Note[] {
  const { system } = body;
  const blocks = typeof system === "string" ? [{ type: "text", text: system }] : system;
  if (!otherVendorModels.test(model) || !Array.isArray(blocks) || !blocks.some(hasBillingLine))
    return [];
  const kept = (exactTwinOf(blocks) as Json[]).flatMap(withoutLine);
  if (kept.length === 0) delete body["system"];
  else body["system"] = typeof system === "string" ? kept[0]!["text"]! : kept;
  return [{ param: "system", kind: "rewritten", detail: billingDetail }];
}

const restOf = (block: Json): string | undefined =>
  isObject(block) && typeof block["text"] === "string"
    ? withoutBillingLine(block["text"])
    : undefined;

const hasBillingLine = (block: Json): boolean => restOf(block) !== undefined;

/** A block with only the line is removed. */
function withoutLine(block: Json): JsonObject[] {
  const text = restOf(block);
  if (text === undefined) return [block as JsonObject];
  return text === "" ? [] : [{ ...(block as JsonObject), text }];
}
