/** Decodes input items of the responses protocol into canonical turns. RESP-07, RESP-08, RESP-27; T20, T33. */
import { isObject, type WireObject } from "../../base/json.ts";
import type { MediaPart, Message, NativeField, Part, ReasoningPart } from "../canonical/request.ts";
import { decodeCustomCall } from "../custom-tools.ts";
import { withinOf } from "../function-tools.ts";
import { keepUnknown } from "../native.ts";
import { list, nonEmpty, objects } from "../read.ts";
import { asUserMessage } from "./agent-message.ts";
import { decodeContent } from "./parts.ts";

/**
 * Decodes `input`: a string is one user message. Items of one turn become one message: the assistant's reasoning, text and calls, or the
 * results of several calls. Items that only this protocol has are noted under their path.
 */
export function decodeInput(input: unknown, native: NativeField[]): Message[] {
  if (typeof input === "string") {
    return [{ role: "user", content: [{ type: "text", text: input }] }];
  }
  const turns: Turn[][] = [];
  for (const [index, item] of list(input).entries()) {
    const param = `input[${index}]`;
    const turn = isObject(item) ? decodeItem(item, param, native) : undefined;
    if (!turn || !isObject(item)) {
      native.push({ param, value: item });
      continue;
    }
    keepUnknown(item, knownOf(item), param, native);
    const last = turns.at(-1);
    if (last && last[0]!.joins && turn.joins && last[0]!.message.role === turn.message.role) {
      last.push(turn);
    } else turns.push([turn]);
  }
  return turns.map(([first, ...others]) => ({
    ...first!.message,
    content: [first!, ...others].flatMap(({ message }) => message.content),
  }));
}

/** A message; `joins`: it may merge with a neighbour of the same turn. */
interface Turn {
  readonly message: Message;
  readonly joins: boolean;
}

// Ids and statuses of stored items only matter in the vendor's store.
const itemKeys = ["type", "id", "status"];
const knownKeys: Readonly<Record<string, ReadonlySet<string>>> = {
  message: new Set([...itemKeys, "role", "content"]),
  // Codex repeats sender and receiver in the text; members that name them are reported.
  agent_message: new Set([...itemKeys, "content"]),
  function_call: new Set([...itemKeys, "call_id", "name", "namespace", "arguments"]),
  function_call_output: new Set([...itemKeys, "call_id", "output"]),
  custom_tool_call: new Set([...itemKeys, "call_id", "name", "namespace", "input"]),
  custom_tool_call_output: new Set([...itemKeys, "call_id", "output"]),
  reasoning: new Set([...itemKeys, "summary", "content", "encrypted_content"]),
  image_generation_call: new Set([...itemKeys, "result", "output_format"]),
};
const knownOf = ({ type }: WireObject): ReadonlySet<string> =>
  knownKeys[typeof type === "string" ? type : "message"]!;

function decodeItem(item: WireObject, param: string, native: NativeField[]): Turn | undefined {
  switch (item["type"] ?? "message") {
    case "message":
      return decodeMessage(item, param, native);
    case "agent_message": {
      const said = asUserMessage(item);
      return said && decodeMessage(said, param, native);
    }
    case "function_call":
      return assistant({
        type: "tool_call",
        id: String(item["call_id"]),
        name: String(item["name"]),
        ...withinOf(item),
        arguments: nonEmpty(item["arguments"]) ?? "",
      });
    case "custom_tool_call": {
      const call = decodeCustomCall(item["call_id"], item);
      return call && assistant({ ...call, ...withinOf(item) });
    }
    case "function_call_output":
      return resultOf(item, decodeContent(item["output"], `${param}.output`, native));
    case "custom_tool_call_output":
      return resultOf(item, decodeContent(item["output"], `${param}.output`, native), true);
    case "reasoning":
      keepReasoning(item, param, native);
      return assistant(decodeReasoning(item));
    case "image_generation_call": {
      const picture = decodePicture(item);
      return picture && assistant({ ...picture, id: nonEmpty(item["id"]) });
    }
    default:
      return undefined;
  }
}

function resultOf({ call_id: id }: WireObject, content: Part[], custom?: true): Turn {
  const kind = custom ? { custom } : {};
  const result: Part = { type: "tool_result", callId: String(id), content, ...kind };
  return { message: { role: "user", content: [result] }, joins: true };
}

const assistant = (part: Part): Turn => ({
  message: { role: "assistant", content: [part] },
  joins: true,
});

function decodeMessage(item: WireObject, param: string, native: NativeField[]): Turn | undefined {
  const { role } = item;
  if (typeof role !== "string") return undefined;
  const content = decodeContent(item["content"], `${param}.content`, native);
  if (role === "assistant") return { message: { role, content }, joins: true };
  if (role === "system") return { message: { role, content }, joins: false };
  if (role === "developer") {
    return { message: { role: "system", developer: true, content }, joins: false };
  }
  return { message: { role: "user", content }, joins: false };
}

/** Decodes the picture of an item of the vendor's picture tool, in a request or an answer; undefined if it has none. */
export function decodePicture(item: WireObject): MediaPart | undefined {
  const data = nonEmpty(item["result"]);
  if (data === undefined) return undefined;
  const mediaType = `image/${nonEmpty(item["output_format"]) ?? "png"}`;
  return { type: "media", media: "image", source: { kind: "base64", mediaType, data } };
}

/** Decodes a reasoning item of a request or an answer: its summary, or its own text if it has no summary. */
export function decodeReasoning(item: WireObject): ReasoningPart {
  const summary = texts(item["summary"]);
  const text = summary.length > 0 ? summary : texts(item["content"]);
  const encrypted = nonEmpty(item["encrypted_content"]);
  const id = nonEmpty(item["id"]);
  return {
    type: "reasoning",
    text: text.join("\n\n"),
    ...(summary.length > 0 ? { summary: true } : {}),
    ...(encrypted === undefined
      ? {}
      : { signature: { protocol: "responses", value: encrypted } as const }),
    ...(id === undefined ? {} : { id }),
  };
}

const textKeys = new Set(["type", "text"]);

/** Notes the unread members of a reasoning item: its own text beside a summary, and all but the text of its parts. */
function keepReasoning(item: WireObject, param: string, native: NativeField[]): void {
  const [read, beside] =
    texts(item["summary"]).length > 0 ? ["summary", "content"] : ["content", "summary"];
  if (texts(item[beside]).length > 0)
    native.push({ param: `${param}.${beside}`, value: item[beside] });
  for (const [index, part] of list(item[read]).entries()) {
    if (isObject(part)) keepUnknown(part, textKeys, `${param}.${read}[${index}]`, native);
  }
}

const texts = (parts: unknown): string[] =>
  objects(parts).flatMap((part) => nonEmpty(part["text"]) ?? []);
