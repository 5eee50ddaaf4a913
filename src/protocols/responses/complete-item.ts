/**
 * Adds to an item of a direct answer the members that typed clients require and some vendors leave out. LM Studio's texts have no list of
 * annotations, OpenRouter's messages no status, and items that gateways put together no id. async-openai, Koog and the AI SDK fail at that.
 * TXT-10, RESP-52.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import { partId } from "../call-id.ts";
import type { Json } from "../canonical/request.ts";
import { isSet, lookUp, nonEmpty, objects } from "../read.ts";

/** OpenAI's ids begin like this. */
export const idStarts = new Map<unknown, string>([
  ["message", "msg"],
  ["reasoning", "rs"],
  ["function_call", "fc"],
  ["custom_tool_call", "ctc"],
]);

/**
 * Returns the id of an item whose vendor gave none. `start`: how OpenAI's ids of such items begin. That of reasoning begins otherwise: OpenAI
 * refuses reasoning that it does not have, and fit-history.ts tells it by its id.
 */
export const itemId = (start: string, { answerId, index }: Omit<ItemPlace, "status">): string =>
  partId(start === "rs" ? "gw_rs" : start, answerId, index);

/** The answer that an item belongs to, and the item's place in it. */
export interface ItemPlace {
  readonly answerId: string;
  readonly index: number;
  /** That of the item if it has none. */
  readonly status: string;
}

type Defaults = Readonly<Record<string, () => Json>>;

/** Members that items and parts of a kind must have. A list or text is that of one that has only begun. */
const required: Readonly<Record<string, Defaults>> = {
  message: { content: () => [], role: () => "assistant" },
  reasoning: { summary: () => [] },
  function_call: { arguments: () => "" },
  custom_tool_call: { input: () => "" },
  output_text: { text: () => "", annotations: () => [] },
  refusal: { refusal: () => "" },
  reasoning_text: { text: () => "" },
  summary_text: { text: () => "" },
};

/**
 * Changes the item. Codex ignores one without its list or text, as Volcengine Ark begins its reasoning, and then all pieces of it. OpenAI's SDK
 * for .NET fails at a status of null, as vLLM sends it: members that are a string or absent are removed if they are null. Returns true if the
 * item was one that clients refuse.
 */
export function completeItem(item: unknown, place: ItemPlace): boolean {
  if (!isObject(item)) return false;
  let isChanged = item["status"] === null;
  for (const name of ["encrypted_content", "status"]) if (item[name] === null) delete item[name];
  const { type } = item;
  isChanged = addMissing(item) || isChanged;
  if (type === "message" && item["status"] === undefined)
    isChanged = set(item, "status", place.status);
  for (const part of [...objects(item["content"]), ...objects(item["summary"])])
    isChanged = addMissing(part) || isChanged;
  const start = idStarts.get(type);
  if (start !== undefined && nonEmpty(item["id"]) === undefined)
    isChanged = set(item, "id", itemId(start, place));
  const isCall = type === "function_call" || type === "custom_tool_call";
  if (isCall && nonEmpty(item["call_id"]) === undefined)
    isChanged = set(item, "call_id", partId("call", place.answerId, place.index));
  return isChanged;
}

/** Adds the members that an item or a part lacks. True if there are any. */
export function addMissing(value: WireObject): boolean {
  let isChanged = false;
  for (const [name, empty] of Object.entries(lookUp(required, String(value["type"])) ?? {}))
    if (!isSet(value[name])) isChanged = set(value, name, empty());
  return isChanged;
}

function set(value: WireObject, name: string, member: Json): true {
  value[name] = member;
  return true;
}
