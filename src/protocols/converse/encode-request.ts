/**
 * Encodes the canonical form as a Converse request; the path has the model. Never fails: `fit` has already removed everything that the
 * protocol cannot carry. docs/bedrock.md.
 */
import { exactText } from "../../base/exact-numbers.ts";
import { allowedTools } from "../allowed-tools.ts";
import type {
  CanonicalRequest,
  JsonObject,
  Message,
  Reasoning,
  Tool,
  ToolChoice,
} from "../canonical/request.ts";
import type { SchemaFormat } from "../output-format.ts";
import { member } from "../read.ts";
import { encodeContent, type Numbering } from "./blocks.ts";
import { cachePoint } from "./cache-point.ts";

/** Returns the upstream's body. */
export function encodeRequest(request: CanonicalRequest): JsonObject {
  const numbering: Numbering = { documents: 0 };
  const system = request.messages.filter(({ role }) => role === "system");
  const turns = request.messages.filter(({ role }) => role !== "system");
  const systemBlocks = system.flatMap(({ content }) => encodeContent(content, numbering));
  const body: JsonObject = {
    messages: turns.map((message) => encodeMessage(message, numbering)),
  };
  if (systemBlocks.length > 0) body["system"] = systemBlocks;
  const inference = inferenceOf(request);
  if (Object.keys(inference).length > 0) body["inferenceConfig"] = inference;
  const tools = encodeTools(request);
  if (tools) body["toolConfig"] = tools;
  if (request.outputFormat?.type === "json_schema")
    body["outputConfig"] = { textFormat: encodeFormat(request.outputFormat) };
  const fields = encodeReasoning(request.reasoning);
  if (fields) body["additionalModelRequestFields"] = fields;
  return body;
}

/** Tool results come first in their turn, as in the messages protocol. */
function encodeMessage({ role, content }: Message, numbering: Numbering): JsonObject {
  const results = content.filter((part) => part.type === "tool_result");
  const others = content.filter((part) => part.type !== "tool_result");
  const blocks = encodeContent([...results, ...others], numbering);
  // The vendor requires a text beside a document.
  const isBare = blocks.some((block) => "document" in block) && !blocks.some(saysText);
  return { role, content: isBare ? [...blocks, { text: "(document)" }] : blocks };
}

const saysText = (block: JsonObject): boolean => "text" in block;

function inferenceOf({ maxOutputTokens, temperature, topP, stop }: CanonicalRequest): JsonObject {
  return {
    ...(maxOutputTokens === undefined ? {} : { maxTokens: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(stop === undefined || stop.length === 0 ? {} : { stopSequences: [...stop] }),
  };
}

function encodeTools(request: CanonicalRequest): JsonObject | undefined {
  const { toolChoice, tools = [] } = request;
  if (toolChoice?.type === "none") return undefined;
  // The protocol has no list of allowed tools; offering only the allowed ones has the same effect (T29).
  const offered = allowedTools(tools, toolChoice);
  if (offered.length === 0) return usedTools(request);
  const choice = encodeToolChoice(toolChoice);
  return {
    tools: offered.flatMap((tool) => [encodeTool(tool), ...cachePoint(tool.cache)]),
    ...(choice ? { toolChoice: choice } : {}),
  };
}

/** The vendor refuses calls in the conversation if no tools are defined. So the called tools are defined, by name only. */
function usedTools({ messages }: CanonicalRequest): JsonObject | undefined {
  const names = new Set(
    messages.flatMap(({ content }) =>
      content.flatMap((part) => (part.type === "tool_call" ? [part.name] : [])),
    ),
  );
  if (names.size === 0) return undefined;
  return { tools: [...names].map((name) => encodeTool({ name })) };
}

function encodeTool({ name, description, parameters }: Tool): JsonObject {
  const schema: JsonObject =
    parameters === undefined
      ? { type: "object", properties: {} }
      : "type" in parameters
        ? parameters
        : { type: "object", ...parameters };
  const spec: JsonObject = { name, inputSchema: { json: schema } };
  if (description !== undefined && description.trim() !== "") spec["description"] = description;
  return { toolSpec: spec };
}

function encodeToolChoice(choice: ToolChoice | undefined): JsonObject | undefined {
  switch (choice?.type) {
    case "auto":
      return { auto: {} };
    case "required":
      return { any: {} };
    case "tool":
      return { tool: { name: choice.name } };
    case "allowed":
      return choice.mode === "required" ? { any: {} } : { auto: {} };
    default:
      return undefined;
  }
}

/** The protocol carries the schema as JSON text. */
function encodeFormat({ name, schema }: SchemaFormat): JsonObject {
  const jsonSchema = { ...member("name", name), schema: exactText(schema) };
  return { type: "json_schema", structure: { jsonSchema } };
}

/** Encodes the reasoning settings in the field that the model's record names. */
function encodeReasoning(reasoning: Reasoning | undefined): JsonObject | undefined {
  switch (reasoning?.field) {
    case "thinking":
      return thinking(reasoning);
    case "reasoning_config":
      return reasoningConfig(reasoning);
    case "reasoning_effort":
      return reasoning.effort === undefined ? undefined : { reasoning_effort: reasoning.effort };
    default:
      return undefined;
  }
}

/** Claude's fields. */
function thinking({ effort, budget }: Reasoning): JsonObject | undefined {
  const fields: JsonObject = {};
  if (budget === 0) fields["thinking"] = { type: "disabled" };
  else if (budget === "dynamic") fields["thinking"] = { type: "adaptive" };
  else if (budget !== undefined) fields["thinking"] = { type: "enabled", budget_tokens: budget };
  if (effort !== undefined) fields["output_config"] = { effort };
  return Object.keys(fields).length > 0 ? fields : undefined;
}

/** Amazon Nova's fields. */
function reasoningConfig({ effort, budget }: Reasoning): JsonObject | undefined {
  if (budget === 0) return { reasoningConfig: { type: "disabled" } };
  if (effort === undefined) return undefined;
  return { reasoningConfig: { type: "enabled", maxReasoningEffort: effort } };
}
