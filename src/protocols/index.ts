/** The four text protocols: codecs by name, the canonical form, and whole answers from streams. */
import type { ProtocolName } from "./canonical/request.ts";
import { chatCodec } from "./chat/index.ts";
import type { Codec } from "./codec.ts";
import { generateContentCodec } from "./generate-content/index.ts";
import { messagesCodec } from "./messages/index.ts";
import { responsesCodec } from "./responses/index.ts";

/** Every codec, by the name the configuration uses. */
export const codecs: Readonly<Record<ProtocolName, Codec>> = {
  chat: chatCodec,
  responses: responsesCodec,
  messages: messagesCodec,
  generate_content: generateContentCodec,
};

export { protocolNames, type JsonObject, type ProtocolName } from "./canonical/request.ts";
export type { AnswerContext, CallFacts, Codec, StreamTap, WireError } from "./codec.ts";
export { framesOfWhole, wholeOfFrames } from "./whole.ts";
