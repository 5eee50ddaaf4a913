/**
 * Proofs of earlier reasoning: encrypted content, which only the vendor or account that made it can read. If all of them refuse, the request
 * goes without these items. A compaction stays: it is the conversation itself. T43, RESP-27.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { ChangedBody } from "../codec.ts";
import { nonEmpty } from "../read.ts";

/** Returns a copy of the caller's body without encrypted reasoning; undefined if it has none. */
export function withoutProofs(body: JsonObject): ChangedBody | undefined {
  const input = exactTwinOf(body["input"]);
  if (!Array.isArray(input) || !input.some(isProven)) return undefined;
  const left = input.filter((item) => !isProven(item));
  const detail = "the upstream refuses earlier reasoning of another vendor or account, dropped";
  return {
    body: { ...body, input: left.map(withoutId) },
    notes: [{ param: "input.reasoning", kind: "dropped", detail }],
  };
}

const isProven = (item: Json): boolean =>
  isObject(item) &&
  item["type"] === "reasoning" &&
  nonEmpty(item["encrypted_content"]) !== undefined;

/** Items that may go without an id. OpenAI refuses one under its id if the reasoning before it is missing. */
const identified: ReadonlySet<unknown> = new Set([
  "message",
  "function_call",
  "custom_tool_call",
  "web_search_call",
  "local_shell_call",
]);

function withoutId(item: Json): Json {
  if (!isObject(item) || !identified.has(item["type"] ?? "message")) return item;
  const { id: _lost, ...rest } = item;
  return rest;
}
