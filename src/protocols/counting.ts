/**
 * Counts the tokens of a request without sending it: the shapes of the two protocols that have an endpoint for it. docs/decisions.md "Also
 * served"; docs/protocols.md.
 */
import type { CanonicalRequest, JsonObject, MediaPart, Part } from "./canonical/request.ts";

/** The token-count endpoint of one protocol. */
export interface TokenCounting {
  /** Returns the request whose input is counted. @throws GatewayError naming the offending field. */
  decode(body: JsonObject, model: string): CanonicalRequest;
  /** Returns the request as the body of a call. */
  callOf(body: JsonObject, maxOutputTokens: number): JsonObject;
  /** Returns the body for a vendor of this protocol; `model` is the vendor's name. */
  ask(body: JsonObject, model: string): JsonObject;
  /** Returns the count from a vendor's answer; undefined if there is none. */
  countIn(answer: JsonObject): number | undefined;
  answer(inputTokens: number): JsonObject;
}

/** The size of everything that the model reads (T52): the text, and the number of messages, tools and media. */
export interface PromptSize {
  readonly text: string;
  readonly messages: number;
  readonly tools: number;
  readonly media: number;
}

/** Measures everything that the model reads in a request. */
export function promptOf(request: CanonicalRequest): PromptSize {
  const texts: string[] = [];
  let media = 0;
  const addPart = (part: Part): void => {
    switch (part.type) {
      case "text":
      case "reasoning":
      case "refusal":
        texts.push(part.text);
        return;
      case "tool_call":
        texts.push(part.name, part.arguments);
        return;
      case "tool_result":
        part.content.forEach(addPart);
        return;
      case "media": {
        if (part.source.kind === "parts") return part.source.parts.forEach(addPart);
        const text = documentText(part);
        if (text === undefined) media += 1;
        else texts.push(text);
      }
    }
  };
  for (const message of request.messages) message.content.forEach(addPart);
  const { tools = [], outputFormat, native } = request;
  for (const { name, description = "", parameters } of tools) {
    texts.push(name, description, parameters ? JSON.stringify(parameters) : "");
  }
  if (outputFormat?.type === "json_schema") texts.push(JSON.stringify(outputFormat.schema));
  for (const { param, value } of native) if (isRead(param)) texts.push(readableText(value));
  return { text: texts.join("\n"), messages: request.messages.length, tools: tools.length, media };
}

/** Returns the text of a text document: the model receives it as text. Undefined for other media. */
function documentText({ source }: MediaPart): string | undefined {
  if (source.kind !== "base64" || !source.mediaType.startsWith("text/")) return undefined;
  return Buffer.from(source.data, "base64").toString("utf8");
}

/** True for native fields in content and tools, which the model reads. */
const isRead = (param: string): boolean =>
  /^(?:messages|system|contents|systemInstruction|system_instruction|tools)\b/.test(param);

/** Returns a value as JSON, without strings that are not text: base64 data, signatures, encrypted content. */
const readableText = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "string" && opaque.test(inner) ? "" : inner,
  ) ?? "";

const opaque = /^[\w+/=-]{500,}$/;
