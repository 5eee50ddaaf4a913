/** The chat-completions protocol. Spec: "Text endpoints". */
import type { Codec } from "../codec.ts";
import { chatDirect } from "./direct.ts";
import { decodeError, encodeError } from "./errors.ts";

/** What the direct route needs; the conversion between protocols completes it. */
export const chatCodec = {
  name: "chat",
  encodeError,
  decodeError,
  direct: chatDirect,
} as unknown as Codec;
