/** The four text protocols and Converse: codecs by name, the canonical form, and whole answers from streams. */
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

/** The codecs of what callers speak, by the name the configuration uses. */
export const codecs: Readonly<Record<ProtocolName, Codec>> = {
  chat: chatCodec,
  responses: responsesCodec,
  messages: messagesCodec,
  generate_content: generateContentCodec,
};

/** The codecs of what upstreams speak. */
export const upstreamCodecs: Readonly<Record<UpstreamProtocol, UpstreamCodec>> = {
  ...codecs,
  converse: converseCodec,
};

/** How a call is spoken: one of the four text protocols, or the one shape of embeddings. */
export type CallProtocol = ProtocolName | "embeddings";

/** The codec in whose shape a call's errors are; embeddings use the OpenAI style. */
export const errorCodec = (protocol: CallProtocol): Codec =>
  codecs[protocol === "embeddings" ? "chat" : protocol];

/** How an upstream is spoken to. */
export type AskedProtocol = UpstreamProtocol | "embeddings";

/** The codec that reads an upstream's errors. */
export const upstreamErrors = (protocol: AskedProtocol): Pick<UpstreamCodec, "decodeError"> =>
  upstreamCodecs[protocol === "embeddings" ? "chat" : protocol];

/** The protocols whose callers can have the tokens of a request counted. */
export const tokenCounting = {
  messages: messagesCounting,
  generate_content: generateContentCounting,
} as const satisfies Partial<Record<ProtocolName, TokenCounting>>;

/** The schema each protocol checks its requests with, for the API document. */
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
export { estimatedCharactersMax, type TextRoom } from "./text-log.ts";
