/** The responses protocol. Spec: "POST /v1/responses". */
import type { Codec } from "../codec.ts";
import { responsesDirect } from "./direct.ts";
import { decodeError, encodeError } from "./errors.ts";

/** What the direct route needs; the conversion between protocols completes it. */
export const responsesCodec = {
  name: "responses",
  encodeError,
  decodeError,
  direct: responsesDirect,
} as unknown as Codec;
