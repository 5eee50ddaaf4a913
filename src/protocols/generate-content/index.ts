/** The generateContent protocol. Requirements: TXT. */
import type { Codec, UpstreamCodec } from "../codec.ts";
import { decodeStream } from "./decode-stream.ts";
import { direct } from "./direct.ts";
import { encodeRequest } from "./encode-request.ts";
import { encodeStream } from "./encode-stream.ts";
import { decodeError, encodeError } from "./errors.ts";
import { conversionLimits, isOlderGeneration, olderLimits } from "./limits.ts";
import { decodeRequest } from "./request.ts";
import { decodeResponse, encodeResponse } from "./response.ts";

export const generateContentCodec: Codec = {
  name: "generate_content",
  limits: conversionLimits,
  forModel: (model) => (isOlderGeneration(model) ? olderCodec : generateContentCodec),
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  decodeStream,
  encodeStream,
  encodeError,
  decodeError,
  direct,
};

const olderCodec: UpstreamCodec = { ...generateContentCodec, limits: olderLimits };
