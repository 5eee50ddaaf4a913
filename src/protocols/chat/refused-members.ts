/**
 * Removes members of earlier messages and their calls that an upstream of this protocol refuses: reasoning and signatures of other vendors,
 * and what OpenAI's SDKs write into an answer that is sent back, such as `refusal: null`. Other upstreams need or accept them (T38, T41).
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { isEmptyList, isSet, nonEmpty } from "../read.ts";
import { reasoningText } from "./reasoning.ts";

/** Members that all upstreams read, but not all as null. */
const unset = ["function_call", "tool_calls"];

/** Removes the members from the messages of `body`, a copy of the caller's body. Changed messages are copied, the others shared. */
export function removeRefused(body: JsonObject, refused: readonly string[]): Note[] {
  const messages = exactTwinOf(body["messages"]);
  if (refused.length === 0 || !Array.isArray(messages)) return [];
  const namesIn = (holder: JsonObject): string[] => [
    ...refused.filter((name) => Object.hasOwn(holder, name) && !isOfTool(holder, name)),
    ...unset.filter((name) => holder[name] === null),
  ];
  const holdsOwn = (value: Json): value is JsonObject =>
    isObject(value) && namesIn(value).length > 0;
  const holds = (message: Json): message is JsonObject =>
    holdsOwn(message) || callsOf(message).some(holdsOwn);
  if (!messages.some(holds)) return [];
  const notes = new Map<string, Note>();
  const without = (holder: JsonObject, path: string): JsonObject => {
    const kept = { ...holder };
    for (const name of namesIn(holder)) {
      delete kept[name];
      if (!says(holder[name])) continue;
      const param = `${path}.${name}`;
      const isText = name === "refusal" && !says(kept["content"]);
      if (isText) kept["content"] = holder[name]!;
      if (!notes.has(param)) notes.set(param, noteOf(param, isText));
    }
    return kept;
  };
  body["messages"] = messages.map((message) => {
    if (!holds(message)) return message;
    const kept = without(message, "messages");
    const calls = callsOf(message);
    if (calls.some(holdsOwn))
      kept["tool_calls"] = calls.map((call) =>
        holdsOwn(call) ? without(call, "messages.tool_calls") : call,
      );
    return kept;
  });
  return [...notes.values()];
}

/** A tool's result has the name of its tool at every upstream; some know no other names. */
const isOfTool = ({ role }: JsonObject, member: string): boolean =>
  member === "name" && (role === "tool" || role === "function");

function noteOf(param: string, isText: boolean): Note {
  if (isText) return { param, kind: "rewritten", detail: "the upstream knows it as text only" };
  const what = param.includes("reasoning") ? "earlier reasoning" : "this member";
  return { param, kind: "dropped", detail: `the upstream refuses ${what}, dropped` };
}

const reasoningMembers: ReadonlySet<string> = new Set([
  "reasoning_content",
  "reasoning",
  "reasoning_details",
]);

/** True if a detail of reasoning has only its text. */
const isPlain = (detail: Json): boolean =>
  isObject(detail) && !says(detail["data"]) && !says(detail["signature"]);

function listOf(item: Json, list: "tool_calls" | "content"): readonly Json[] {
  const items = isObject(item) ? item[list] : undefined;
  return Array.isArray(items) ? items : [];
}

/** True if the field has content: some vendors send it empty in every message. */
const says = (value: Json | undefined): boolean =>
  isSet(value) && value !== "" && !isEmptyList(value);
