/**
 * Counting the tokens of a request that is not sent: what the two protocols that have an endpoint for it ask and answer.
 * docs/decisions.md "Also served"; docs/protocols.md.
 */
import type { CanonicalRequest, JsonObject, MediaPart, Part } from "./canonical/request.ts";

/** One protocol's own way to count. */
export interface TokenCounting {
  /** The request whose input is counted. @throws GatewayError naming the offending field. */
  decode(body: JsonObject, model: string): CanonicalRequest;
  /** The body that a vendor of this protocol is asked with; `model` is its own name. */
  ask(body: JsonObject, model: string): JsonObject;
  /** The count in a vendor's answer; undefined when there is none. */
  countIn(answer: JsonObject): number | undefined;
  answer(inputTokens: number): JsonObject;
}

/** Everything of a request that its model reads (T52): texts, and the number of messages, tools and media beside them. */
export interface PromptSize {
  readonly text: string;
  readonly messages: number;
  readonly tools: number;
  readonly media: number;
}

/** What the model reads of a request. */
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

/** A document that is text goes to the model as that. */
function documentText({ source }: MediaPart): string | undefined {
  if (source.kind !== "base64" || !source.mediaType.startsWith("text/")) return undefined;
  return Buffer.from(source.data, "base64").toString("utf8");
}

/** Fields that only their own protocol knows are read where content and tools stand. */
const isRead = (param: string): boolean =>
  /^(?:messages|system|contents|systemInstruction|system_instruction|tools)\b/.test(param);

/** A value as JSON, without what is no text: base64 data, signatures, encrypted content. */
const readableText = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "string" && opaque.test(inner) ? "" : inner,
  ) ?? "";

const opaque = /^[\w+/=-]{500,}$/;
