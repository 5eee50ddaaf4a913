/**
 * Encodes the canonical form as a messages request. Requirements: CONV. Never fails: `fit` has already capped, filled and removed
 * everything that the protocol cannot carry.
 */
import { pushAll } from "../../base/push-all.ts";
import { allowedTools } from "../allowed-tools.ts";
import type {
  CanonicalRequest,
  JsonObject,
  Message,
  Reasoning,
  Tool,
  ToolChoice,
} from "../canonical/request.ts";
import { removeFilteredFields } from "../filter.ts";
import { restoreNative } from "../native.ts";
import { fillThinking } from "./blank-thinking.ts";
import { encodeCache, encodeContent } from "./blocks.ts";
import { limitCacheMarkers } from "./cache-markers.ts";
import { limits } from "./limits.ts";

/** Returns the upstream's body. `model` is the upstream's name. */
export function encodeRequest(request: CanonicalRequest, model: string): JsonObject {
  const { system, turns } = splitSystem(request);
  const body: JsonObject = {
    model,
    max_tokens: request.maxOutputTokens ?? limits.maxTokensFallback,
    messages: turns.map(encodeMessage),
  };
  if (system.length > 0) body["system"] = system;
  if (request.stream) body["stream"] = true;
  if (request.temperature !== undefined) body["temperature"] = request.temperature;
  if (request.topP !== undefined) body["top_p"] = request.topP;
  if (request.topK !== undefined) body["top_k"] = request.topK;
  if (request.stop !== undefined) body["stop_sequences"] = [...request.stop];
  if (request.endUserId !== undefined) body["metadata"] = { user_id: request.endUserId };
  encodeTools(request, body);
  encodeReasoning(request.reasoning, body);
  if (request.outputFormat?.type === "json_schema") {
    const format = { type: "json_schema", schema: request.outputFormat.schema };
    body["output_config"] = { ...(body["output_config"] as JsonObject | undefined), format };
  }
  if (request.protocol === "messages") {
    restoreNative(body, request.native);
    removeFilteredFields(body);
    limitCacheMarkers(body);
  } else fillThinking(body, model);
  return body;
}

/**
 * System turns go to the top. For callers of this protocol only the first does: newer clients put system turns into the conversation on
 * purpose.
 */
function splitSystem(request: CanonicalRequest): { system: JsonObject[]; turns: Message[] } {
  const isOwn = request.protocol === "messages";
  const system: JsonObject[] = [];
  const turns: Message[] = [];
  for (const [index, message] of request.messages.entries()) {
    if (message.role === "system" && (index === 0 || !isOwn)) {
      pushAll(system, encodeContent(message.content));
    } else turns.push(message);
  }
  return { system, turns };
}

/** Tool results come first in their turn: the vendor requires them before any text. */
function encodeMessage({ role, content }: Message): JsonObject {
  const results = content.filter((part) => part.type === "tool_result");
  const others = content.filter((part) => part.type !== "tool_result");
  return { role, content: encodeContent([...results, ...others]) };
}

function encodeTools(request: CanonicalRequest, body: JsonObject): void {
  const { toolChoice, tools = [] } = request;
  // The protocol has no list of allowed tools; offering only the allowed ones has the same effect (T29).
  const offered = allowedTools(tools, toolChoice);
  if (offered.length > 0) body["tools"] = offered.map(encodeTool);
  else if (toolChoice?.type === "allowed") return;
  const choice = encodeToolChoice(toolChoice);
  const parallel = request.parallelToolCalls;
  if (parallel !== undefined && tools.length > 0 && toolChoice?.type !== "none") {
    body["tool_choice"] = { ...(choice ?? { type: "auto" }), disable_parallel_tool_use: !parallel };
  } else if (choice) body["tool_choice"] = choice;
}

function encodeTool(tool: Tool): JsonObject {
  const wire: JsonObject = { name: tool.name };
  if (tool.description !== undefined) wire["description"] = tool.description;
  // The vendor requires an object schema, even for a tool without arguments (T24).
  wire["input_schema"] =
    tool.parameters === undefined
      ? { type: "object", properties: {} }
      : "type" in tool.parameters
        ? tool.parameters
        : { type: "object", ...tool.parameters };
  if (tool.strict !== undefined) wire["strict"] = tool.strict;
  if (tool.cache) wire["cache_control"] = encodeCache(tool.cache);
  return wire;
}

function encodeToolChoice(choice: ToolChoice | undefined): JsonObject | undefined {
  if (!choice) return undefined;
  switch (choice.type) {
    case "required":
      return { type: "any" };
    case "tool":
      return { type: "tool", name: choice.name };
    case "allowed":
      return { type: choice.mode === "required" ? "any" : "auto" };
    default:
      return { type: choice.type };
  }
}

/** A budget becomes `thinking`; an effort passes unchanged. `none` switches thinking off. */
function encodeReasoning(reasoning: Reasoning | undefined, body: JsonObject): void {
  if (!reasoning) return;
  const { budget, effort, includeThoughts } = reasoning;
  if (budget === 0 || (budget === undefined && effort === "none")) {
    body["thinking"] = { type: reasoning.offAs ?? "disabled" };
  } else if (budget !== undefined) {
    const thinking: JsonObject =
      budget === "dynamic" ? { type: "adaptive" } : { type: "enabled", budget_tokens: budget };
    if (includeThoughts !== undefined) {
      thinking["display"] = includeThoughts ? "summarized" : "omitted";
    }
    body["thinking"] = thinking;
  }
  if (effort !== undefined && effort !== "none") body["output_config"] = { effort };
}
