/** The generateContent protocol. Spec: "Text endpoints". */
import type { Codec } from "../codec.ts";
import { direct } from "./direct.ts";
import { decodeError, encodeError } from "./errors.ts";

export const generateContentCodec = {
  name: "generate_content",
  encodeError,
  decodeError,
  direct,
} satisfies Partial<Codec>;
