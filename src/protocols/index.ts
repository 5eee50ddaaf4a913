/** The four text protocols: codecs by name, the canonical form, and whole answers from streams. */
import type { ProtocolName } from "./canonical/request.ts";
import { chatCodec } from "./chat/index.ts";
import { chatRequest } from "./chat/wire.ts";
import type { Codec } from "./codec.ts";
import { generateContentCodec } from "./generate-content/index.ts";
import { generateContentRequest } from "./generate-content/wire.ts";
import { messagesCodec } from "./messages/index.ts";
import { messagesRequest } from "./messages/wire.ts";
import { responsesCodec } from "./responses/index.ts";
import { responsesRequest } from "./responses/wire.ts";

/** Every codec, by the name the configuration uses. */
export const codecs: Readonly<Record<ProtocolName, Codec>> = {
  chat: chatCodec,
  responses: responsesCodec,
  messages: messagesCodec,
  generate_content: generateContentCodec,
};

/** The schema each protocol checks its requests with, for the API document. */
export const requestSchemas = {
  chat: chatRequest,
  responses: responsesRequest,
  messages: messagesRequest,
  generate_content: generateContentRequest,
} as const satisfies Readonly<Record<ProtocolName, object>>;

export { protocolNames, type JsonObject, type ProtocolName } from "./canonical/request.ts";
export type { AnswerContext, CallFacts, Codec, StreamTap, WireError } from "./codec.ts";
export { createRoute } from "./convert.ts";
export type { Route, RouteInput } from "./route.ts";
