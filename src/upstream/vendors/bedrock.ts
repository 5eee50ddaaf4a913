/**
 * Amazon Bedrock. An address that ends in `/v1` is spoken to as its protocol says. Any other is `bedrock-runtime` itself, which has
 * its models below `/model`, with streams in AWS's binary frames: Claude by `invoke`, with a version of its own in the body,
 * and all others by `converse`. docs/bedrock.md.
 */
import { loadPackets, packetsAsEvents, streamType } from "./bedrock-stream.ts";
import type { TextAsk, Vendor } from "./types.ts";

const anthropicVersion = "bedrock-2023-05-31";

const isInvoked = ({ provider, protocol }: TextAsk): boolean =>
  protocol === "messages" && !provider.baseUrl.endsWith("/v1");

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
  body(body, ask) {
    if (!isInvoked(ask)) return body;
    const { model: _inPath, stream: _inPathToo, ...rest } = body;
    const beta = ask.caller["anthropic-beta"];
    return {
      ...rest,
      anthropic_version: anthropicVersion,
      ...(beta === undefined ? {} : { anthropic_beta: beta.split(",").map((name) => name.trim()) }),
    };
  },
  load: loadPackets,
  answer: (exchange, ask) =>
    ask.stream && (isInvoked(ask) || ask.protocol === "converse")
      ? packetsAsEvents(exchange)
      : exchange,
};
