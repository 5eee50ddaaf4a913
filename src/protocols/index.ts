/** Public exports: the four text protocols and Converse, codecs by name, the canonical form, and routes. */
import type { ProtocolName, UpstreamProtocol } from "./canonical/request.ts";
import { chatCodec } from "./chat/index.ts";
import { chatRequest } from "./chat/wire.ts";
import type { Codec, UpstreamCodec } from "./codec.ts";
import { converseCodec } from "./converse/index.ts";
import type { TokenCounting } from "./counting.ts";
import { counting as generateContentCounting } from "./generate-content/count.ts";
import { generateContentCodec } from "./generate-content/index.ts";
import { generateContentRequest } from "./generate-content/wire.ts";
import { counting as messagesCounting } from "./messages/count.ts";
import { messagesCodec } from "./messages/index.ts";
import { countTokensRequest, messagesRequest } from "./messages/wire.ts";
import { responsesCodec } from "./responses/index.ts";
import { responsesRequest } from "./responses/wire.ts";

/** The codecs of the protocols that callers speak, by name in the configuration. */
export const codecs: Readonly<Record<ProtocolName, Codec>> = {
  chat: chatCodec,
  responses: responsesCodec,
  messages: messagesCodec,
  generate_content: generateContentCodec,
};

/** The codecs of the protocols that upstreams speak. */
export const upstreamCodecs: Readonly<Record<UpstreamProtocol, UpstreamCodec>> = {
  ...codecs,
  converse: converseCodec,
};

/** The protocol of a call: one of the four text protocols, or embeddings. */
export type CallProtocol = ProtocolName | "embeddings";

/** Returns the codec that encodes a call's errors; embeddings use the OpenAI style. */
export const errorCodec = (protocol: CallProtocol): Codec =>
  codecs[protocol === "embeddings" ? "chat" : protocol];

/** The protocol of a request to an upstream. */
export type AskedProtocol = UpstreamProtocol | "embeddings";

/** Returns the codec that decodes an upstream's errors. */
export const upstreamErrors = (protocol: AskedProtocol): Pick<UpstreamCodec, "decodeError"> =>
  upstreamCodecs[protocol === "embeddings" ? "chat" : protocol];

/** The protocols with an endpoint to count tokens. */
export const tokenCounting = {
  messages: messagesCounting,
  generate_content: generateContentCounting,
} as const satisfies Partial<Record<ProtocolName, TokenCounting>>;

/** The request schema of each protocol, for the API document. */
export const requestSchemas = {
  chat: chatRequest,
  responses: responsesRequest,
  messages: messagesRequest,
  generate_content: generateContentRequest,
} as const satisfies Readonly<Record<ProtocolName, object>>;

export { countTokensRequest };
export { canonicalNames } from "./canonical-names.ts";
export { addressesIn } from "./addresses.ts";
export {
  embeddingInput,
  embeddingRoute,
  embeddingsRequest,
  validateEmbeddings,
} from "./embeddings.ts";
export { promptOf } from "./counting.ts";
export { filteredNames } from "./filter.ts";
export { fitDirect } from "./fit-direct.ts";
export { isClaude } from "./messages/call-ids.ts";
export {
  protocolNames,
  upstreamProtocols,
  type CanonicalRequest,
  type JsonObject,
  type ProtocolName,
  type UpstreamProtocol,
} from "./canonical/request.ts";
export type { CallFacts, Codec, StreamSeen, StreamTap, WireError } from "./codec.ts";
export { convertedBody, createRoute, routeOf } from "./convert.ts";
export type { Route } from "./route.ts";
export { messagesField } from "./tidy.ts";
export { estimatedCharactersMax, type TextRoom } from "./text-log.ts";
