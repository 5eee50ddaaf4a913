/** The messages protocol. Spec: "Text endpoints". */
import type { Codec } from "../codec.ts";
import { direct } from "./direct.ts";
import { decodeError, encodeError } from "./errors.ts";

export const messagesCodec = {
  name: "messages",
  encodeError,
  decodeError,
  direct,
} satisfies Partial<Codec>;
