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
  // Codex acts on these only in a stream. It then shortens the conversation, or waits and tries again. At a status of 400 or 429 it ends
  // the turn, while SDKs try again after 429.
  reportedInStream: new Map([
    ["context_length_exceeded", "always"],
    ["rate_limit_exceeded", "as_vendor"],
  ]),
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
