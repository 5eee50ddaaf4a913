/** The responses protocol. Requirements: RESP. */
import type { Codec } from "../codec.ts";
import { decodeStream } from "./decode-stream.ts";
import { responsesDirect } from "./direct.ts";
import { encodeRequest } from "./encode-request.ts";
import { encodeResponse } from "./encode-response.ts";
import { encodeStream } from "./encode-stream.ts";
import { decodeError, encodeError } from "./errors.ts";
import { conversionLimits } from "./limits.ts";
import { decodeRequest } from "./request.ts";
import { decodeResponse } from "./response.ts";

export const responsesCodec: Codec = {
  name: "responses",
  echoesRequest: true,
  // Codex shortens the conversation only if it reads this code in a stream: it ends the turn at any status of 400.
  toldInStream: new Set(["context_length_exceeded"]),
  limits: conversionLimits,
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  decodeStream,
  encodeStream,
  encodeError,
  decodeError,
  direct: responsesDirect,
};
