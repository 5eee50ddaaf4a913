/**
 * Random valid requests of the four protocols, by the vendors' documents or by grammars written from them. Their members are
 * meaningful together.
 */
import { existsSync, readFileSync } from "node:fs";
import * as fc from "fast-check";
import type { JsonObject, ProtocolName } from "../../src/protocols/index.ts";
import { Generator, someJson, word, type Overrides, type Schemas } from "./arbitrary.ts";
import { items, set, text, wire, type Wire } from "../transcripts/readers/index.ts";
import { generateContentSchemas, messagesSchemas } from "./grammars.ts";

const path = new URL("../../../shared/wire/data/openai-slice.json", import.meta.url);

/** True if the vendor's document is there, beside the repository. */
export const hasDocument = existsSync(path);

const openai: Schemas = hasDocument
  ? (JSON.parse(readFileSync(path, "utf8")) as { components: { schemas: Schemas } }).components
      .schemas
  : {};

const toolNames = ["look_up", "add", "send-mail"];
const toolName = fc.constantFrom(...toolNames);
const callId = fc.nat(9).map((count) => `call_${count}`);
const json = someJson.map((value) => JSON.stringify(value));
const base64 = word.map((one) => Buffer.from(one.padEnd(9, "-")).toString("base64"));
const mediaType = fc.constantFrom("image/png", "image/jpeg");
const picture = fc.oneof(
  fc.tuple(mediaType, base64).map(([type, data]) => `data:${type};base64,${data}`),
  word.map((one) => `https://example.com/${one}.png`),
);
const document = fc
  .tuple(fc.constantFrom("application/pdf", "text/plain"), base64)
  .map(([type, data]) => `data:${type};base64,${data}`);

/** A JSON Schema of arguments or of an answer. */
const someSchema = fc
  .record({ name: word, about: word, values: fc.array(word, { minLength: 1, maxLength: 2 }) })
  .map(({ name, about, values }) => ({
    type: "object",
    properties: { [name]: { type: "string", description: about, enum: [...new Set(values)] } },
    required: [name],
    additionalProperties: false,
  }));

const tokens = fc.integer({ min: 16, max: 20_000 });
const allowed = (form: (name: string) => object): fc.Arbitrary<unknown> =>
  fc.uniqueArray(toolName, { minLength: 1, maxLength: 2 }).map((names) => names.map(form));

const openaiOverrides: Overrides = {
  ModelIdsShared: fc.constant("acme/talk"),
  ModelIdsResponses: fc.constant("acme/talk"),
  "CreateChatCompletionRequest.max_completion_tokens": tokens,
  "CreateChatCompletionRequest.max_tokens": tokens,
  "CreateChatCompletionRequest.n": fc.integer({ min: 1, max: 4 }),
  "CreateChatCompletionRequest.seed": fc.integer(),
  "CreateChatCompletionRequest.stream": fc.constant(false),
  "CreateResponse.stream": fc.constant(false),
  "CreateResponse.max_output_tokens": tokens,
  FunctionParameters: someSchema,
  ResponseFormatJsonSchemaSchema: someSchema,
  "FunctionObject.name": toolName,
  "FunctionTool.name": toolName,
  "FunctionTool.parameters": someSchema,
  "FunctionToolParam.name": toolName,
  "ChatCompletionFunctions.name": toolName,
  "ChatCompletionFunctionCallOption.name": toolName,
  "ChatCompletionNamedToolChoice.function": toolName.map((name) => ({ name })),
  "ToolChoiceFunction.name": toolName,
  "ChatCompletionAllowedTools.tools": allowed((name) => ({ type: "function", function: { name } })),
  "ToolChoiceAllowed.tools": allowed((name) => ({ type: "function", name })),
  "ChatCompletionMessageToolCall.id": callId,
  "ChatCompletionMessageToolCall.function": fc.record({ name: toolName, arguments: json }),
  "ChatCompletionRequestToolMessage.tool_call_id": callId,
  "ChatCompletionRequestAssistantMessage.function_call": fc.record({
    name: toolName,
    arguments: json,
  }),
  "ChatCompletionRequestFunctionMessage.name": toolName,
  "ChatCompletionRequestMessageContentPartImage.image_url": fc
    .tuple(picture, fc.constantFrom(undefined, "auto", "low", "high"))
    .map(([url, detail]) => (detail === undefined ? { url } : { url, detail })),
  "ChatCompletionRequestMessageContentPartAudio.input_audio": fc.record({
    data: base64,
    format: fc.constantFrom("wav", "mp3"),
  }),
  "ChatCompletionRequestMessageContentPartFile.file": fc.oneof(
    fc.record({ filename: word.map((one) => `${one}.pdf`), file_data: document }),
    fc.record({ file_id: word }),
  ),
  "FunctionToolCall.call_id": callId,
  "FunctionToolCall.name": toolName,
  "FunctionToolCall.arguments": json,
  "FunctionCallOutputItemParam.call_id": callId,
  "CustomToolCall.call_id": callId,
  "CustomToolCallOutput.call_id": callId,
  "InputImageContent.image_url": picture,
  "InputImageContentParamAutoParam.image_url": picture,
  "InputFileContent.file_data": document,
  "InputFileContentParam.file_data": document,
  "ImageGenToolCall.result": base64,
};

const id = fc.nat(9).map((count) => `toolu_${count}`);
const messagesOverrides: Overrides = {
  "Request.model": fc.constant("acme/talk"),
  "Request.stream": fc.constant(false),
  ToolName: toolName,
  "ToolUse.id": id,
  "ToolUse.input": someJson,
  "ToolResult.tool_use_id": id,
  "Tool.input_schema": someSchema,
  "ImageSource.data": base64,
  "Document.source.data": base64,
  "Request.output_config.format.schema": someSchema,
  "Request.tool_choice.name": toolName,
};

const generateContentOverrides: Overrides = {
  FunctionName: toolName,
  MimeType: fc.constantFrom(
    "image/png",
    "image/jpeg",
    "application/pdf",
    "audio/wav",
    "text/plain",
  ),
  FileUri: word.map((one) => `https://generativelanguage.googleapis.com/v1beta/files/${one}`),
  "Part.inlineData.data": base64,
  "Declaration.parameters": someSchema,
  "Declaration.parametersJsonSchema": someSchema,
  "Config.responseSchema": someSchema,
  "Config.responseJsonSchema": someSchema,
  "Request.toolConfig.functionCallingConfig.allowedFunctionNames": fc.uniqueArray(toolName, {
    minLength: 1,
    maxLength: 2,
  }),
  "ResultPart.functionResponse.response": someJson,
};

/** Gives each call an id of its own, and puts its result right behind it. */
type Pair = (item: Wire, nextId: () => string) => Wire[];

const callsOf = (value: unknown, type: string): Wire[] =>
  items(value).filter((one) => one["type"] === type);

const pairChat: Pair = (message, nextId) => {
  if (message["role"] === "tool") return [];
  const calls = items(message["tool_calls"]).map((call) => ({ ...call, id: nextId() }));
  if (calls.length === 0) return [message];
  const results = calls.map(({ id }) => ({
    role: "tool",
    tool_call_id: id,
    content: `result ${id}`,
  }));
  return [{ ...message, tool_calls: calls }, ...results];
};

const pairResponses: Pair = (item, nextId) => {
  const type = text(item["type"]);
  const [, kind, isOutput] = /^(function_call|custom_tool_call)(_output)?$/.exec(type) ?? [];
  if (kind === undefined) return [item];
  const call_id = nextId();
  if (isOutput === undefined)
    return [
      { ...item, call_id },
      { type: `${kind}_output`, call_id, output: `result ${call_id}` },
    ];
  const input = kind === "function_call" ? { arguments: "{}" } : { input: "x" };
  return [
    { type: kind, call_id, name: "look_up", ...input },
    { ...item, call_id },
  ];
};

const saidBy: Readonly<Record<string, readonly string[]>> = {
  user: ["text", "image", "document"],
  assistant: ["text", "thinking", "redacted_thinking", "tool_use"],
};

const pairMessages: Pair = (message, nextId) => {
  const { role, content } = message;
  if (typeof content === "string") return [message];
  const blocks = items(content)
    .filter(({ type }) => saidBy[text(role)]!.includes(text(type)))
    .map((block) => (block["type"] === "tool_use" ? { ...block, id: nextId() } : block));
  if (blocks.length === 0) return [];
  const results = callsOf(blocks, "tool_use").map(({ id }) => ({
    type: "tool_result",
    tool_use_id: id,
    content: `result ${text(id)}`,
  }));
  const turn = { role, content: blocks };
  return results.length > 0 ? [turn, { role: "user", content: results }] : [turn];
};

const pairContents: Pair = (content, nextId) => {
  const isModel = content["role"] === "model";
  const parts = items(content["parts"]).filter(
    (part) => !("functionResponse" in part) && (isModel || !("functionCall" in part)),
  );
  if (parts.length === 0) return [];
  const results = parts
    .filter((part) => "functionCall" in part)
    .map(({ functionCall }) => {
      const { id, name } = wire(functionCall);
      const response = { output: `result ${nextId()}` };
      return { functionResponse: { ...set({ id }), name, response } };
    });
  const turn = { ...content, parts };
  return results.length > 0 ? [turn, { role: "user", parts: results }] : [turn];
};

/** The field of the conversation, the pairing of its calls, and a last turn. */
const conversations: Readonly<
  Record<ProtocolName, readonly [place: string, pair: Pair, last: Wire]>
> = {
  chat: ["messages", pairChat, { role: "user", content: "Go on." }],
  responses: ["input", pairResponses, { role: "user", content: "Go on." }],
  messages: ["messages", pairMessages, { role: "user", content: "Go on." }],
  generate_content: ["contents", pairContents, { role: "user", parts: [{ text: "Go on." }] }],
};

/** Ids in the forms of some clients and vendors. */
const idForms: readonly ((count: number) => string)[] = [
  (count) => `call_${count}`,
  (count) => `functions.look_up:${count}`,
  (count) => `${"x".repeat(70)}${count}`,
  (count) => `call ${count}|fc_é`,
];

function paired(protocol: ProtocolName, body: Wire, form: number): Wire {
  const [place, pair, last] = conversations[protocol];
  if (!Array.isArray(body[place])) return body;
  // The messages protocol requires plain ids.
  const idOf = idForms[protocol === "messages" ? 0 : form % idForms.length]!;
  let count = 0;
  const nextId = (): string => idOf((count += 1));
  const turns = items(body[place]).flatMap((item) => pair(item, nextId));
  return { ...body, [place]: [...turns, last] };
}

/** Removes tools with equal names, and the tool choice if there are no tools. */
function sensible(body: Wire): Wire {
  const { tool_choice: choice, tools, ...rest } = body;
  const seen = new Set<unknown>();
  const own = items(tools).filter((tool) => {
    const { name } = wire(tool["function"] ?? tool["custom"] ?? tool);
    return name === undefined || (!seen.has(name) && seen.add(name));
  });
  return {
    ...rest,
    ...(Array.isArray(tools) ? { tools: own } : {}),
    ...(own.length > 0 ? set({ tool_choice: choice }) : {}),
  };
}

/** Most items are of types that every protocol knows. */
const plainGenerator = new Generator(openai, openaiOverrides);
const weighted = (...choices: [weight: number, name: string][]): fc.Arbitrary<unknown> =>
  fc.oneof(
    ...choices.map(([weight, name]) => ({ weight, arbitrary: plainGenerator.named(name, 3) })),
  );
const biased: Overrides = {
  ...openaiOverrides,
  InputItem: weighted(
    [6, "EasyInputMessage"],
    [3, "InputMessage"],
    [4, "OutputMessage"],
    [5, "FunctionToolCall"],
    [3, "FunctionCallOutputItemParam"],
    [3, "ReasoningItem"],
    [1, "ImageGenToolCall"],
    [1, "Item"],
  ),
  Tool: weighted([5, "FunctionTool"], [1, "Tool"]),
};

const kinds: Record<ProtocolName, fc.Arbitrary<unknown>> = {
  chat: new Generator(openai, biased).named("CreateChatCompletionRequest"),
  responses: fc
    .tuple(
      new Generator(openai, biased).named("CreateResponse"),
      new Generator(openai, biased).named("InputParam"),
    )
    .map(([body, input]) => ({ ...(body as object), model: "acme/talk", input })),
  messages: new Generator(messagesSchemas, messagesOverrides).named("Request"),
  generate_content: new Generator(generateContentSchemas, generateContentOverrides).named(
    "Request",
  ),
};

/** A random valid request. One in ten stays unpaired, with results without calls and calls without results. */
export const someRequest = (protocol: ProtocolName): fc.Arbitrary<JsonObject> =>
  fc.tuple(kinds[protocol], fc.nat(9)).map(([body, how]) => {
    const plain = JSON.parse(JSON.stringify(body)) as JsonObject;
    return how === 0 ? plain : (sensible(paired(protocol, plain, how)) as JsonObject);
  });
