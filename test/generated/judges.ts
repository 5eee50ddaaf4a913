/**
 * Finds the errors of a request to a vendor: by the vendor's own document, by grammars, and by the checks of the simulated
 * vendor.
 */
import { Ajv } from "ajv";
import { messagesStrict } from "../../sandbox/anthropic/messages-strict.ts";
import { generateContentStrict } from "../../sandbox/google/generate-content-strict.ts";
import { chatStrict } from "../../sandbox/openai/chat-strict.ts";
import { responsesStrict } from "../../sandbox/openai/responses-strict.ts";
import type { JsonObject, ProtocolName } from "../../src/protocols/index.ts";
import { schemaOf } from "../sandbox/support.ts";
import { items, text, wire, type Wire } from "../transcripts/readers/index.ts";
import type { Schemas } from "./arbitrary.ts";
import { generateContentSchemas, messagesSchemas } from "./grammars.ts";

type Judge = (body: JsonObject) => unknown[];

const own = (schemas: Schemas): Judge => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "own", components: { schemas } });
  const validate = ajv.getSchema("own#/components/schemas/Request")!;
  return (body) => (validate(body) ? [] : (validate.errors ?? ["invalid"]));
};

const openai = (name: string): Judge => {
  const validate = schemaOf("openai-slice.json", name);
  return (body) => validate?.(asSentBack(body)) ?? [];
};

/** Adds the ids and token probabilities of earlier messages, because callers may send messages back without them. */
function asSentBack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asSentBack);
  if (typeof value !== "object" || value === null) return value;
  const object = wire(
    Object.fromEntries(Object.entries(value).map(([key, member]) => [key, asSentBack(member)])),
  );
  if (object["type"] !== "message" || object["role"] !== "assistant") return object;
  const content = items(object["content"]).map((part) => ({ logprobs: [], ...part }));
  return { id: "msg_1", status: "completed", ...object, content };
}

const bySchema: Readonly<Record<ProtocolName, Judge>> = {
  chat: openai("CreateChatCompletionRequest"),
  responses: openai("CreateResponse"),
  messages: own(messagesSchemas),
  generate_content: own(generateContentSchemas),
};

const strict = {
  chat: chatStrict,
  responses: responsesStrict,
  messages: messagesStrict,
  generate_content: generateContentStrict,
};

function refusal(protocol: ProtocolName, body: JsonObject): string[] {
  const headers = { "anthropic-version": "2023-06-01" };
  const query = new URLSearchParams();
  const call = {
    headers,
    query,
    model: "up",
    stream: false,
    body: structuredClone(body),
    files: [],
  };
  try {
    for (const check of strict[protocol]) check(call);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** True if a text of the conversation contains the word "json". */
const saysJson = (said: unknown): boolean => /json/i.test(JSON.stringify(said));

/** Errors by OpenAI's rules that its documents have no schema for. */
function openaiRules(protocol: ProtocolName, body: Wire): string[] {
  const format = protocol === "chat" ? body["response_format"] : wire(body["text"])["format"];
  const conversation = protocol === "chat" ? body["messages"] : body["input"];
  const wordless = wire(format)["type"] === "json_object" && !saysJson(conversation);
  const unstored = protocol === "chat" && body["metadata"] && body["store"] !== true;
  return [
    ...(wordless ? [`${protocol}: must contain the word 'json'`] : []),
    ...(unstored ? ["'metadata' is only allowed when 'store' is enabled"] : []),
  ];
}

/** The errors of a request that was converted for a vendor of this protocol. Empty if the vendor accepts it. */
export function faultsOf(protocol: ProtocolName, body: JsonObject): unknown[] {
  const isOpenai = protocol === "chat" || protocol === "responses";
  return [
    ...bySchema[protocol](body),
    ...refusal(protocol, body),
    ...(isOpenai ? openaiRules(protocol, body) : []),
  ];
}

type Path = readonly (string | number)[];

/** Every word that the generator made, with its place. */
function* wordsIn(value: unknown, path: Path = []): Generator<readonly [word: string, path: Path]> {
  if (typeof value === "string") {
    for (const [word] of value.matchAll(/\bw[0-9a-z]{5,6}\b/g)) yield [word, path];
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* wordsIn(item, [...path, index]);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, member] of Object.entries(value)) yield* wordsIn(member, [...path, key]);
  }
}

const inConversation = /^(?:messages|input|contents|system|systemInstruction|instructions)$/;

/** True if a report is about this place, its parent or a part of it. In a conversation any report about the conversation counts. */
function isOf(param: string, path: Path): boolean {
  const name = path.filter((step) => typeof step === "string").join(".");
  const field = param.replace(/\[\d+\]/g, "");
  const [container = ""] = name.split(".");
  if (inConversation.test(container)) return inConversation.test(field.split(".")[0]!);
  return name === field || name.startsWith(`${field}.`) || field.startsWith(`${name}.`);
}

/** True if the tool choice leaves tools out. A vendor without such a choice is not offered those tools. */
const restrictsTools = (body: JsonObject): boolean => {
  const { tool_choice: choice, toolConfig: config } = body;
  return (
    wire(choice)["type"] === "allowed_tools" ||
    "allowedFunctionNames" in wire(wire(config)["functionCallingConfig"])
  );
};

/** Fields that mean nothing to another vendor. */
const meaninglessElsewhere =
  /^(?:model|(?:input\.)?id|response_format\.json_schema\.name|text\.format\.name)$/;

/** The places of the caller's words that were neither sent nor reported. */
export function lostWords(body: JsonObject, sent: string, reported: readonly string[]): string[] {
  const gone = [...wordsIn(body)].filter(([word, path]) => {
    const name = path.filter((step) => typeof step === "string").join(".");
    if (sent.includes(word) || meaninglessElsewhere.test(name)) return false;
    if (/^(?:tools|functions)\b/.test(name) && restrictsTools(body)) return false;
    // If a body has both lists, what is said of either names `tools`.
    const isListed = path[0] === "functions" && reported.includes("tools");
    return !isListed && !reported.some((param) => isOf(param, path));
  });
  return [...new Set(gone.map(([word, path]) => `${path.join(".")}: ${text(word)}`))];
}
