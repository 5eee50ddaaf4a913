/**
 * Replaces call ids of other vendors on the direct route to Claude. It refuses a conversation if an id has other characters
 * ("functions.look:0" is Kimi's), or if two calls share one. Answers keep their ids, because their own vendors recognise them. T21.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { CallIdAllocator } from "../call-id-allocator.ts";
import { conversionLimits } from "./limits.ts";

/** Many vendors speak this protocol, but only Claude has this rule. */
export const isClaude = (model: string): boolean => /claude/i.test(model);

const acceptedId = /^[a-zA-Z0-9_-]+$/;

/**
 * Renames call ids that `model` refuses, and those of their results, in `body`, a copy of the caller's. Changed parts are copied, the rest
 * is shared. The same conversation gets the same ids in every turn.
 */
export function fitCallIds(body: JsonObject, model: string): Note[] {
  const messages = exactTwinOf(body["messages"]);
  if (!isClaude(model) || !Array.isArray(messages) || !hasRefusedIds(messages)) return [];
  const ids = new CallIds();
  body["messages"] = messages.map((message, turn) => {
    if (!isObject(message) || !Array.isArray(message["content"])) return message;
    return { ...message, content: message["content"].map((block) => ids.fit(block, turn)) };
  });
  const detail =
    "ids of calls that the upstream refuses went under others, and so did their results";
  return [{ param: "messages.content.tool_use", kind: "rewritten", detail }];
}

type Holder = JsonObject & { id: string };

const isCall = (block: Json): block is Holder =>
  isObject(block) && block["type"] === "tool_use" && typeof block["id"] === "string";

function hasRefusedIds(messages: readonly Json[]): boolean {
  const seen = new Set<string>();
  for (const message of messages) {
    if (!isObject(message) || !Array.isArray(message["content"])) continue;
    for (const block of message["content"]) {
      if (!isCall(block)) continue;
      if (seen.has(block.id) || !acceptedId.test(block.id)) return true;
      seen.add(block.id);
    }
  }
  return false;
}

/** Calls of one turn with the same original id, and their new ids; the next result belongs to the first. */
interface Calls {
  readonly turn: number;
  readonly open: string[];
}

class CallIds {
  readonly #ids = new CallIdAllocator(conversionLimits);
  /** The latest such calls, by original id. */
  readonly #latest = new Map<string, Calls>();

  /** Returns a block with its new id. If calls of one turn share an id, the first result belongs to the first call. */
  fit(block: Json, turn: number): Json {
    if (isCall(block)) {
      const id = this.#ids.next(block.id);
      const known = this.#latest.get(block.id);
      if (known?.turn === turn) known.open.push(id);
      else this.#latest.set(block.id, { turn, open: [id] });
      return id === block.id ? block : { ...block, id };
    }
    if (!isObject(block) || block["type"] !== "tool_result") return block;
    const given = block["tool_use_id"];
    const open = typeof given === "string" ? (this.#latest.get(given)?.open ?? []) : [];
    const id = open.length > 1 ? open.shift() : open[0];
    return id === undefined || id === given ? block : { ...block, tool_use_id: id };
  }
}
