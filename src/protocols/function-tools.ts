/** Function tools of the OpenAI-style protocols. Requirements: CONV, RESP-16. */
import { exactTwinOf } from "../base/exact-numbers.ts";
import { isObject, type WireObject } from "../base/json.ts";
import { nonEmpty } from "./read.ts";
import type { CanonicalRequest, Json, JsonObject, Tool, ToolChoice } from "./canonical/request.ts";

/** The members of a declaration that every protocol supports. */
export const functionKeys: ReadonlySet<string> = new Set([
  "name",
  "description",
  "parameters",
  "strict",
]);

/** Decodes the declaration of a function; protocols differ only in where it stands. */
export function decodeFunction(wire: WireObject): Tool {
  const { name, description, parameters, strict } = wire;
  return {
    name: String(name),
    ...(typeof description === "string" ? { description } : {}),
    ...(isObject(parameters) ? { parameters: exactTwinOf(parameters) as JsonObject } : {}),
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
}

/**
 * Returns `none` for an empty list of tools, unless a call is required: all protocols can express that. Undefined for anything else, which
 * none of them can.
 */
export const choiceOfNone = (tools: readonly unknown[], mode: unknown): ToolChoice | undefined =>
  tools.length === 0 && mode !== "required" ? { type: "none" } : undefined;

/** Writes a protocol's tools and tool choice. */
interface ToolWriter {
  readonly tools: (tools: readonly Tool[]) => JsonObject[];
  readonly choice: (choice: ToolChoice, kindOf: KindOfTool) => Json;
}

/** Returns the kind of an offered tool, by its name and namespace. */
export type KindOfTool = (name: string, namespace?: string) => "function" | "custom";

/** Returns a unique key for a tool's name and namespace. */
export const toolKey = (name: string, namespace?: string): string =>
  JSON.stringify([namespace, name]);

/** Reads the namespace of a called or chosen tool from the wire; empty if there is none. */
export function withinOf({ namespace }: WireObject): { readonly namespace?: string } {
  const name = nonEmpty(namespace);
  return name === undefined ? {} : { namespace: name };
}

/** Looks up the kinds of tools. Unknown names count as functions; so do names of both kinds, unless chosen as custom. */
export function kindsOf(tools: readonly Tool[], choice: ToolChoice | undefined): KindOfTool {
  const keys = (kind: readonly Tool[]) =>
    new Set(kind.map(({ name, namespace }) => toolKey(name, namespace?.name)));
  const custom = keys(tools.filter((tool) => tool.custom));
  const functions = keys(tools.filter((tool) => !tool.custom));
  const isChosen = choice?.type === "tool" && choice.custom === true;
  return (name, namespace) => {
    const key = toolKey(name, namespace);
    return custom.has(key) && (isChosen || !functions.has(key)) ? "custom" : "function";
  };
}

/** Sets the tools of a request, the tool choice and parallel calls. */
export function setTools(
  { tools = [], toolChoice, parallelToolCalls }: CanonicalRequest,
  set: (key: string, value: Json | undefined) => void,
  writer: ToolWriter,
): void {
  // Upstreams refuse tool choice and parallel calls without tools (RESP-16).
  if (tools.length === 0) return;
  set("tools", writer.tools(tools));
  set("tool_choice", toolChoice && writer.choice(toolChoice, kindsOf(tools, toolChoice)));
  set("parallel_tool_calls", parallelToolCalls);
}
