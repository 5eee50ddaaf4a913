/** The messages protocol. Requirements: TXT. */
import type { Codec, UpstreamCodec } from "../codec.ts";
import { takesOneSampler } from "../limits.ts";
import { decodeStream } from "./decode-stream.ts";
import { direct } from "./direct.ts";
import { encodeRequest } from "./encode-request.ts";
import { encodeStream } from "./encode-stream.ts";
import { decodeError, encodeError } from "./errors.ts";
import { conversionLimits, oneSamplerLimits } from "./limits.ts";
import { decodeRequest } from "./request.ts";
import { decodeResponse, encodeResponse } from "./response.ts";

export const messagesCodec: Codec = {
  name: "messages",
  limits: conversionLimits,
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  forModel: (model) => (takesOneSampler(model) ? oneSamplerCodec : messagesCodec),
  decodeStream,
  encodeStream,
  encodeError,
  decodeError,
  direct,
};

const oneSamplerCodec: UpstreamCodec = { ...messagesCodec, limits: oneSamplerLimits };
