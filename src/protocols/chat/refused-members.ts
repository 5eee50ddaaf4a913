/**
 * Removes members of messages, their parts and calls, and of tools, that an upstream of this protocol refuses: reasoning, signatures, cache
 * markers, and what answers have beside their text. Callers send answers back as another vendor spelled them. Other upstreams need these
 * members (T38, T41).
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { isEmptyList, isSet, nonEmpty } from "../read.ts";
import { reasoningText } from "./reasoning.ts";

/** Removes the members from `body`, a copy of the caller's body. Changed messages and tools are copied, the others shared. */
export function removeRefused(body: JsonObject, refused: readonly string[]): Note[] {
  if (refused.length === 0) return [];
  const removal = new Removal(refused);
  for (const list of ["messages", "tools"]) {
    const items = exactTwinOf(body[list]);
    if (Array.isArray(items) && items.some((item) => removal.concerns(item)))
      body[list] = items.map((item) => removal.from(item, list));
  }
  return removal.notes();
}

class Removal {
  readonly #refused: ReadonlySet<string>;
  readonly #notes = new Map<string, Note>();

  constructor(refused: readonly string[]) {
    this.#refused = new Set(refused);
  }

  notes(): Note[] {
    return [...this.#notes.values()];
  }

  /** True if a message or tool, or a call or part of it, has a refused member. */
  concerns(item: Json): item is JsonObject {
    const within = [...listOf(item, "tool_calls"), ...listOf(item, "content")];
    return this.#holds(item) || within.some((one) => this.#holds(one));
  }

  #holds(item: Json): item is JsonObject {
    return isObject(item) && this.#namesIn(item).length > 0;
  }

  #namesIn(holder: JsonObject): string[] {
    const isIn = (name: string) =>
      (this.#refused.has(name) && !isOfTool(holder, name)) ||
      (holder[name] === null && unset.has(name));
    return Object.keys(holder).filter(isIn);
  }

  from(item: Json, path: string): Json {
    if (!this.concerns(item)) return item;
    const kept = this.#without({ ...item, ...this.#moved(item, path) }, path);
    const calls = listOf(item, "tool_calls");
    if (calls.some((call) => this.#holds(call)))
      kept["tool_calls"] = calls.map((call) => this.#fromInner(call, `${path}.tool_calls`));
    const parts = listOf(item, "content");
    if (parts.some((part) => this.#holds(part)))
      kept["content"] = parts.map((part) =>
        this.#fromInner(this.#said(part, path), `${path}.content`),
      );
    return kept;
  }

  #fromInner(item: Json, path: string): Json {
    return this.#holds(item) ? this.#without({ ...item }, path) : item;
  }

  /** A part that is a refusal, as text. */
  #said(part: Json, path: string): Json {
    if (!isObject(part) || part["type"] !== "refusal" || !this.#refused.has("refusal")) return part;
    this.#noteRefusal(path);
    return { type: "text", text: nonEmpty(part["refusal"]) ?? "" };
  }

  #without(holder: JsonObject, path: string): JsonObject {
    for (const name of this.#namesIn(holder)) {
      if (says(holder[name])) {
        const what = reasoningMembers.has(name) ? "earlier reasoning" : "this member";
        this.#note(`${path}.${name}`, "dropped", `the upstream refuses ${what}, dropped`);
      }
      delete holder[name];
    }
    return holder;
  }

  /** The words of a message in a refused member that another member can hold; the refused member is then empty. */
  #moved(message: JsonObject, path: string): JsonObject {
    return { ...this.#movedReasoning(message), ...this.#movedRefusal(message, path) };
  }

  /** The same text by the name that the upstream takes. Nothing is lost, so this is not noted. */
  #movedReasoning(message: JsonObject): JsonObject {
    const isTaken = this.#refused.has("reasoning") && !this.#refused.has("reasoning_content");
    const text = isTaken ? reasoningText(message) : "";
    if (text === "") return {};
    const { reasoning, reasoning_details: details } = message;
    const isSaid = Array.isArray(details) && details.every(isPlain);
    return {
      reasoning_content: text,
      // A second, different text is lost.
      ...(reasoning === text ? { reasoning: null } : {}),
      ...(isSaid ? { reasoning_details: null } : {}),
    };
  }

  #movedRefusal(message: JsonObject, path: string): JsonObject {
    const text = this.#refused.has("refusal") ? nonEmpty(message["refusal"]) : undefined;
    if (text === undefined || says(message["content"])) return {};
    this.#noteRefusal(path);
    return { content: text, refusal: null };
  }

  #noteRefusal(path: string): void {
    this.#note(`${path}.refusal`, "rewritten", "the upstream has no refusals: it goes as text");
  }

  #note(param: string, kind: Note["kind"], detail: string): void {
    if (!this.#notes.has(param)) this.#notes.set(param, { param, kind, detail });
  }
}

/** Members that all upstreams read, but not all as null. */
const unset: ReadonlySet<string> = new Set(["function_call", "tool_calls"]);

/** A tool's result has the name of its tool at every upstream, and a tool its own. Some know no other names. */
const isOfTool = ({ role, type }: JsonObject, member: string): boolean =>
  member === "name" && (role === "tool" || role === "function" || type !== undefined);

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
