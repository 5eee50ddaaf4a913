// The four readers by protocol.
import type { ProtocolName } from "../../../src/protocols/index.ts";
import { chatReader } from "./chat.ts";
import { generateContentReader } from "./generate-content.ts";
import type { Reader } from "./meaning.ts";
import { messagesReader } from "./messages.ts";
import { responsesReader } from "./responses.ts";

export const readers: Readonly<Record<ProtocolName, Reader>> = {
  chat: chatReader,
  responses: responsesReader,
  messages: messagesReader,
  generate_content: generateContentReader,
};

export * from "./meaning.ts";
