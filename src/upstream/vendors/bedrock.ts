/**
 * Amazon Bedrock. An address that ends in `/v1` is spoken to as its protocol says. Any other is `bedrock-runtime` itself, which has
 * its models below `/model`, with streams in AWS's binary frames: Claude by `invoke`, with a version of its own in the body,
 * and all others by `converse`. docs/bedrock.md.
 */
import { isObject } from "../../base/json.ts";
import type { JsonObject } from "../../protocols/index.ts";
import { loadPackets, packetsAsEvents, streamType } from "./bedrock-stream.ts";
import type { Addressed, Vendor } from "./types.ts";

const anthropicVersion = "bedrock-2023-05-31";

const isInvoked = ({ provider, protocol }: Addressed): boolean =>
  protocol === "messages" && !provider.baseUrl.endsWith("/v1");

/** Claude's own body, as `invoke` takes it. */
function invokeBody(body: JsonObject, { caller }: Addressed): JsonObject {
  const { model: _inPath, stream: _inPathToo, ...rest } = body;
  const beta = caller["anthropic-beta"];
  return {
    ...rest,
    anthropic_version: anthropicVersion,
    ...(beta === undefined ? {} : { anthropic_beta: beta.split(",").map((name) => name.trim()) }),
  };
}

/** What a count reads of a request for Converse; it refuses all else. */
const countedFields = ["messages", "system", "toolConfig", "additionalModelRequestFields"];

/** A request within CountTokens: for Converse as it is, for `invoke` as the bytes of its body, whose maximum is no input. */
function countBody(body: JsonObject, ask: Addressed): JsonObject {
  if (isInvoked(ask)) {
    const { budget_tokens: budget } = isObject(body["thinking"]) ? body["thinking"] : {};
    const max_tokens = (typeof budget === "number" ? budget : 0) + 1;
    const bytes = Buffer.from(JSON.stringify({ max_tokens, ...invokeBody(body, ask) }));
    return { input: { invokeModel: { body: bytes.toString("base64") } } };
  }
  const counted = Object.entries(body).filter(([name]) => countedFields.includes(name));
  return { input: { converse: Object.fromEntries(counted) } };
}

export const bedrock: Vendor = {
  // `bedrock-mantle` takes the key of messages where the vendor of the protocol does.
  keyHeader: (ask) =>
    ask.protocol === "messages" && !isInvoked(ask) ? "x-api-key" : "authorization",
  headers(ask): Record<string, string> {
    if (isInvoked(ask)) return { accept: "application/json" };
    return ask.protocol === "converse" && ask.stream ? { accept: streamType } : {};
  },
  path(own, ask) {
    if (!isInvoked(ask)) return own;
    const action = ask.stream ? "invoke-with-response-stream" : "invoke";
    return `/model/${encodeURIComponent(ask.model)}/${action}`;
  },
  body: (body, ask) => (isInvoked(ask) ? invokeBody(body, ask) : body),
  countPath: (ask) =>
    isInvoked(ask) || ask.protocol === "converse"
      ? `/model/${encodeURIComponent(ask.model)}/count-tokens`
      : undefined,
  countBody,
  load: loadPackets,
  answer: (exchange, ask) =>
    ask.stream && (isInvoked(ask) || ask.protocol === "converse")
      ? packetsAsEvents(exchange)
      : exchange,
};
