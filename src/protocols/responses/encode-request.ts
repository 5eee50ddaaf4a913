/**
 * Encodes the canonical form as a responses request. Requirements: CONV. Never fails: `fit` has already removed everything that the
 * protocol cannot carry.
 */
import type {
  CanonicalRequest,
  Json,
  JsonObject,
  MediaPart,
  Message,
  OutputFormat,
  Part,
  Reasoning,
  Tool,
  ToolChoice,
  ToolNamespace,
  ToolResultPart,
} from "../canonical/request.ts";
import { joinText } from "../content-parts.ts";
import { removeFilteredFields } from "../filter.ts";
import { encodeCustomTool } from "../custom-tools.ts";
import { setTools, type KindOfTool } from "../function-tools.ts";
import { restoreNative } from "../native.ts";
import { formatWith } from "../output-format.ts";
import { member } from "../read.ts";
import { encodeInput } from "./parts.ts";

/** Returns the upstream's body. `model` is the upstream's name. */
export function encodeRequest(request: CanonicalRequest, model: string): JsonObject {
  const { instructions, turns } = splitInstructions(request.messages);
  const body: JsonObject = { model, input: turns.flatMap(encodeMessage) };
  const set = (key: string, value: Json | undefined): void => {
    if (value !== undefined) body[key] = value;
  };
  set("instructions", instructions);
  set("max_output_tokens", request.maxOutputTokens);
  set("temperature", request.temperature);
  set("top_p", request.topP);
  setTools(request, set, { tools: encodeTools, choice: encodeToolChoice });
  set("text", encodeText(request));
  set("reasoning", request.reasoning && encodeReasoningSettings(request.reasoning));
  set("user", request.endUserId);
  set("prompt_cache_key", request.promptCacheKey);
  set("metadata", request.metadata);
  set("store", request.store);
  if (request.stream) set("stream", true);
  if (request.protocol === "responses") {
    restoreNative(body, request.native);
    removeFilteredFields(body);
    delete body["previous_response_id"];
  }
  return body;
}

/** System turns before the conversation become its instructions (CONV-301); later ones keep their position. */
function splitInstructions(messages: readonly Message[]) {
  const first = messages.findIndex((message) => message.role !== "system");
  const count = first === -1 ? messages.length : first;
  const text = messages
    .slice(0, count)
    .map((message) => joinText(message.content))
    .join("\n\n");
  return { instructions: text === "" ? undefined : text, turns: messages.slice(count) };
}

/** Encodes one turn as items, in order. Tool results come before the user's content. */
function encodeMessage({ role, content, developer }: Message): JsonObject[] {
  if (role === "assistant") return encodeAssistant(content);
  if (role === "system") return [message(developer ? "developer" : "system", encodeInput(content))];
  const results = content.flatMap((part) =>
    part.type === "tool_result"
      ? [{ type: outputTypeOf(part), call_id: part.callId, output: output(part.content) }]
      : [],
  );
  const said = encodeInput(content);
  return said.length > 0 ? [...results, message("user", said)] : results;
}

const outputTypeOf = ({ custom }: ToolResultPart): string =>
  custom ? "custom_tool_call_output" : "function_call_output";

const message = (role: string, content: Json[]): JsonObject => ({ type: "message", role, content });

/** Text as a string, which every upstream accepts; pictures that a tool returned as parts (T27). */
const output = (parts: readonly Part[]): Json =>
  parts.every((part) => part.type === "text") ? joinText(parts) : encodeInput(parts);

/** Neighbouring texts and refusals become parts of one message; reasoning and calls become separate items. */
function encodeAssistant(parts: readonly Part[]): JsonObject[] {
  const items: JsonObject[] = [];
  let said: Json[] | undefined;
  for (const part of parts) {
    if (part.type === "text" || part.type === "refusal") {
      if (!said) {
        said = [];
        items.push(message("assistant", said));
      }
      said.push(
        part.type === "text"
          ? { type: "output_text", text: part.text, annotations: [] }
          : { type: "refusal", refusal: part.text },
      );
      continue;
    }
    said = undefined;
    items.push(...encodeItem(part));
  }
  return items;
}

function encodeItem(part: Part): JsonObject[] {
  if (part.type === "tool_call" && part.custom) {
    const { id, name, namespace, arguments: input } = part;
    return [
      { type: "custom_tool_call", call_id: id, name, ...member("namespace", namespace), input },
    ];
  }
  if (part.type === "tool_call") {
    const text = part.arguments === "" ? "{}" : part.arguments;
    const { id, name, namespace } = part;
    const named = { name, ...member("namespace", namespace) };
    return [{ type: "function_call", call_id: id, ...named, arguments: text }];
  }
  if (part.type === "media") return encodePicture(part);
  // Without its encryption, a stateless upstream cannot use a reasoning item.
  if (part.type !== "reasoning" || part.signature?.protocol !== "responses") return [];
  return [
    {
      type: "reasoning",
      ...member("id", part.id),
      summary: part.text === "" ? [] : [{ type: "summary_text", text: part.text }],
      encrypted_content: part.signature.value,
    },
  ];
}

/** Encodes a picture that the model made as its original kind of item. `fit` has refused pictures from models of other protocols. */
function encodePicture({ id, source }: MediaPart): JsonObject[] {
  if (source.kind !== "base64") return [];
  const format = source.mediaType.replace(/^image\//, "");
  const picture = { status: "completed", output_format: format, result: source.data };
  return [{ type: "image_generation_call", ...member("id", id), ...picture }];
}

/** Encodes the tools, grouping neighbours of one namespace. `encode` writes one tool. */
export function encodeTools(
  tools: readonly Tool[],
  encode: (tool: Tool) => JsonObject = encodeTool,
): JsonObject[] {
  let last: { readonly of: ToolNamespace; readonly tools: JsonObject[] } | undefined;
  return tools.flatMap((tool): JsonObject[] => {
    const { namespace } = tool;
    const one = encode(tool);
    if (!namespace) {
      last = undefined;
      return [one];
    }
    if (last?.of === namespace) {
      last.tools.push(one);
      return [];
    }
    last = { of: namespace, tools: [one] };
    const { name, description } = namespace;
    return [{ type: "namespace", name, ...member("description", description), tools: last.tools }];
  });
}

/** Encodes a tool in the flat form. `strict` is always set: its default is true here and false everywhere else. */
export function encodeTool(tool: Tool): JsonObject {
  if (tool.custom) return { type: "custom", ...encodeCustomTool(tool) };
  const { name, description, parameters, strict } = tool;
  return {
    type: "function",
    name,
    ...member("description", description),
    parameters: parameters ?? { type: "object", properties: {} },
    strict: strict ?? false,
  };
}

/** Encodes the choice in the flat form. */
export function encodeToolChoice(choice: ToolChoice, kindOf: KindOfTool): Json {
  const named = (name: string, namespace?: string): JsonObject => ({
    type: kindOf(name, namespace),
    name,
    ...member("namespace", namespace),
  });
  if (choice.type === "tool") return named(choice.name, choice.namespace);
  if (choice.type !== "allowed") return choice.type;
  const { mode, names, within = [] } = choice;
  const tools = [
    ...names.map((name) => named(name)),
    ...within.map(({ name, namespace }) => named(name, namespace)),
  ];
  return { type: "allowed_tools", mode, tools };
}

function encodeText({ outputFormat, verbosity }: CanonicalRequest): JsonObject | undefined {
  if (!outputFormat && verbosity === undefined) return undefined;
  return {
    ...member("format", outputFormat && encodeFormat(outputFormat)),
    ...member("verbosity", verbosity),
  };
}

/** Encodes `text.format`. */
export const encodeFormat = (format: OutputFormat): JsonObject =>
  formatWith(format, (declaration) => declaration);

/** A caller that only asks for thoughts, without a level, gets the summary that the model has (CONV-312). */
function encodeReasoningSettings(reasoning: Reasoning): JsonObject | undefined {
  const { effort, mode, context } = reasoning;
  const summary = reasoning.summary ?? (reasoning.includeThoughts ? "auto" : undefined);
  const members = Object.entries({ effort, summary, mode, context }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return members.length === 0 ? undefined : Object.fromEntries(members);
}
