/**
 * Amazon Bedrock. A base URL that ends in `/v1` speaks its protocol as it is. Any other is `bedrock-runtime`, with models below `/model`
 * and streams in AWS's binary frames. Claude is called by `invoke`, with a version in the body, all other models by `converse`.
 * docs/bedrock.md.
 */
import { isObject } from "../../base/json.ts";
import type { JsonObject } from "../../protocols/index.ts";
import { loadPackets, packetsAsEvents, streamType } from "./bedrock-stream.ts";
import type { Addressed, Vendor } from "./types.ts";

const anthropicVersion = "bedrock-2023-05-31";

const isInvoked = ({ provider, protocol }: Addressed): boolean =>
  protocol === "messages" && !provider.baseUrl.endsWith("/v1");

/** Returns Claude's body in the form for `invoke`. */
function invokeBody(body: JsonObject, { caller }: Addressed): JsonObject {
  const { model: _inPath, stream: _inPathToo, ...rest } = body;
  const beta = caller["anthropic-beta"];
  return {
    ...rest,
    anthropic_version: anthropicVersion,
    ...(beta === undefined ? {} : { anthropic_beta: beta.split(",").map((name) => name.trim()) }),
  };
}

/** The fields of a Converse request that CountTokens accepts; it refuses others. */
const countedFields = ["messages", "system", "toolConfig", "additionalModelRequestFields"];

/**
 * Wraps a request for CountTokens: for Converse its fields, for `invoke` the bytes of its body. The body's maximum does not count as input.
 */
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
  // `bedrock-mantle` takes the key of messages in the protocol's own header.
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
