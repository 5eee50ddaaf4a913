/** Decodes chat messages into canonical turns. Requirements: CONV. */
import { isObject, type WireObject } from "../../base/json.ts";
import { pushAll } from "../../base/push-all.ts";
import type {
  Message,
  NativeField,
  Part,
  ToolCallPart,
  ToolResultPart,
} from "../canonical/request.ts";
import { keepMarker, markerOf } from "../cache-marker.ts";
import { decodeCustomCall } from "../custom-tools.ts";
import { keepUnknown, keepUnknownIn } from "../native.ts";
import { list, nonEmpty, objectOf, isEmptyList } from "../read.ts";
import { isBlank } from "../tidy.ts";
import { decodeContent } from "./parts.ts";
import { decodeReasoning, unreadReasoning } from "./reasoning.ts";
import { thinkingParts } from "./response.ts";

/** Ids by name. Deprecated `function_call` calls have no ids: results are paired by name, newest call first. */
type LegacyCalls = Map<string, string[]>;
/** Ids of custom tool calls: a result does not tell the kind of its call. */
type CustomCalls = Set<string>;

/** Decodes `messages` of a validated body. Fields that only chat knows are noted under their path. */
export function decodeMessages(wire: unknown, native: NativeField[]): Message[] {
  const messages: Message[] = [];
  const gathering: Gathering = { native, legacy: new Map(), custom: new Set() };
  for (const [index, message] of list(wire).entries()) {
    if (!isObject(message)) continue;
    const param = `messages[${index}]`;
    const decoded = decodeMessage(message, param, gathering);
    if (decoded) messages.push(withMarker(decoded, message, param, native));
    keepUnknown(withoutEcho(message), knownOf(message), param, native);
  }
  return messages;
}

/**
 * The AI SDK and LiteLLM also write the marker of a message's last part on the message itself: opencode, Kilo Code and OpenHands send it
 * there. A marker that no part can have is noted.
 */
function withMarker(
  message: Message,
  wire: WireObject,
  param: string,
  native: NativeField[],
): Message {
  keepMarker(wire, param, native);
  const cache = markerOf(wire);
  if (cache === undefined) return message;
  const { content } = message;
  const at = content.findLastIndex(takesMarker);
  const last = content[at];
  if (last === undefined) {
    native.push({ param: `${param}.cache_control`, value: wire["cache_control"] });
    return message;
  }
  const marked = { cache: { ...cache, param: "messages.cache_control" }, ...last };
  return { ...message, content: content.with(at, marked) };
}

const takesMarker = (part: Part): boolean =>
  part.type !== "reasoning" && part.type !== "refusal" && !isBlank(part);

interface Gathering {
  readonly native: NativeField[];
  readonly legacy: LegacyCalls;
  readonly custom: CustomCalls;
}

function knownOf(message: WireObject): ReadonlySet<string> {
  const known = knownByRole[String(message["role"])] ?? turnKeys;
  if (message["role"] !== "assistant") return known;
  const unread = unreadReasoning(message);
  if (!Array.isArray(message["images"])) unread.push("images");
  if (!unread.some((key) => key in message)) return known;
  return new Set([...known].filter((key) => !unread.includes(key)));
}

const turnKeys: ReadonlySet<string> = new Set(["role", "content", "name", "cache_control"]);
const reasoningKeys = ["reasoning_content", "reasoning", "reasoning_details"];
const knownByRole: Readonly<Record<string, ReadonlySet<string>>> = {
  assistant: new Set([
    ...turnKeys,
    "refusal",
    "images",
    "tool_calls",
    "function_call",
    ...reasoningKeys,
  ]),
  tool: new Set([...turnKeys, "tool_call_id"]),
};

/** Removes an empty list of annotations, which most answers have: an SDK that sends its answer back loses nothing. */
function withoutEcho(message: WireObject): WireObject {
  if (!isEmptyList(message["annotations"])) return message;
  const { annotations: _annotations, ...rest } = message;
  return rest;
}

function decodeMessage(wire: WireObject, param: string, gathering: Gathering): Message | undefined {
  const isAnswer = wire["role"] === "assistant";
  const content = decodeContent(
    wire["content"],
    `${param}.content`,
    gathering.native,
    isAnswer ? thoughtIn : undefined,
  );
  const name = nonEmpty(wire["name"]);
  const named = name === undefined ? {} : { name };
  switch (wire["role"]) {
    case "system":
      return { role: "system", content, ...named };
    case "developer":
      return { role: "system", developer: true, content, ...named };
    case "assistant":
      return {
        role: "assistant",
        content: assistantParts(wire, content, param, gathering),
        ...named,
      };
    case "tool":
      return toolResult(String(wire["tool_call_id"]), { ...named, content }, gathering.custom);
    case "function":
      return functionResult(name ?? "", content, gathering.legacy);
    default:
      return { role: "user", content, ...named };
  }
}

/** A thought in the content of an answer, as Mistral, Databricks and others write them. Clients send it back as they got it. */
const thoughtIn = (part: WireObject): Part | undefined => thinkingParts([part])[0];

/** Returns reasoning, text, refusal, pictures and calls, in the order in which a model gives them. */
function assistantParts(
  wire: WireObject,
  content: readonly Part[],
  param: string,
  { native, legacy, custom }: Gathering,
): Part[] {
  const parts: Part[] = [];
  const reasoning = decodeReasoning(wire);
  if (reasoning) parts.push(reasoning);
  // An empty text beside calls is no content.
  const hasCalls = list(wire["tool_calls"]).length > 0 || isObject(wire["function_call"]);
  pushAll(
    parts,
    content.filter((part) => !(hasCalls && part.type === "text" && part.text === "")),
  );
  const refusal = nonEmpty(wire["refusal"]);
  if (refusal !== undefined) parts.push({ type: "refusal", text: refusal });
  // Answers have pictures beside the text, and SDKs send them back in that shape.
  pushAll(parts, decodeContent(list(wire["images"]), `${param}.images`, native));
  for (const [index, call] of list(wire["tool_calls"]).entries()) {
    const place = `${param}.tool_calls[${index}]`;
    const part = isObject(call) ? decodeCall(call) : undefined;
    if (part) {
      parts.push(markCall(part, call as WireObject));
      if (part.custom) custom.add(part.id);
      else custom.delete(part.id);
      const { kind, known, inner } = part.custom ? customCall : functionCall;
      keepUnknown(call as WireObject, known, place, native);
      keepMarker(call as WireObject, place, native);
      keepUnknownIn(call as WireObject, kind, { known: inner, prefix: place, native });
    } else native.push({ param: place, value: call });
  }
  if (isObject(wire["function_call"])) {
    const { name, arguments: text } = wire["function_call"];
    keepUnknownIn(wire, "function_call", { known: functionKeys, prefix: param, native });
    const call = { id: `call_${param.replace(/\D/g, "")}_function`, name: String(name) };
    const ids = legacy.get(call.name);
    if (ids) ids.push(call.id);
    else legacy.set(call.name, [call.id]);
    parts.push({ type: "tool_call", ...call, arguments: String(text) });
  }
  return parts;
}

function markCall(part: ToolCallPart, wire: WireObject): ToolCallPart {
  const cache = markerOf(wire);
  return cache
    ? { ...part, cache: { ...cache, param: "messages.tool_calls.cache_control" } }
    : part;
}

/** `index` belongs to streams, but some clients keep it in the message that they assemble. */
const callKeys = ["id", "type", "index", "cache_control"];
const functionKeys = new Set(["name", "arguments"]);
const functionCall = {
  kind: "function",
  known: new Set([...callKeys, "function"]),
  inner: functionKeys,
};
const customCall = {
  kind: "custom",
  known: new Set([...callKeys, "custom"]),
  inner: new Set(["name", "input"]),
};

/** Decodes a call of a function or a custom tool; undefined for other kinds, which only chat upstreams get. */
function decodeCall(wire: WireObject): ToolCallPart | undefined {
  const { name, arguments: text } = objectOf(wire["function"]);
  const type = wire["type"] ?? "function";
  if (type === "custom") return decodeCustomCall(wire["id"], objectOf(wire["custom"]));
  const isFunction = type === "function";
  if (!isFunction || typeof name !== "string") return undefined;
  return { type: "tool_call", id: String(wire["id"]), name, arguments: nonEmpty(text) ?? "" };
}

function toolResult(
  callId: string,
  said: Pick<ToolResultPart, "name" | "content">,
  custom: CustomCalls,
): Message {
  const kind = custom.has(callId) ? ({ custom: true } as const) : {};
  return { role: "user", content: [{ type: "tool_result", callId, ...said, ...kind }] };
}

function functionResult(name: string, content: Part[], legacy: LegacyCalls): Message {
  // A result without its call is an orphan, which `tidy` removes.
  const callId = legacy.get(name)?.pop() ?? `call_${name}`;
  return { role: "user", content: [{ type: "tool_result", callId, name, content }] };
}
