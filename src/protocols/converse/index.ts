/** Amazon Bedrock's Converse protocol: for upstreams only, for models that have no other. docs/bedrock.md. */
import type { UpstreamCodec } from "../codec.ts";
import { takesOneSampler } from "../limits.ts";
import { decodeStream } from "./decode-stream.ts";
import { encodeRequest } from "./encode-request.ts";
import { decodeError } from "./errors.ts";
import { familyCodecs } from "./families.ts";
import { claudeLimits, conversionLimits, novaLimits, oneSamplerLimits } from "./limits.ts";
import { answerFailure, answerText, decodeResponse, encodeResponse } from "./response.ts";
import { decodeUsage } from "./usage.ts";

/** The models that accept cache points; for any other model the vendor refuses a request that has them. */
const claude = /anthropic\.claude/;
const nova = /amazon\.nova/;

export const converseCodec: UpstreamCodec = {
  name: "converse",
  limits: conversionLimits,
  forModel(model) {
    if (claude.test(model)) return takesOneSampler(model) ? oneSamplerCodec : claudeCodec;
    return nova.test(model) ? novaCodec : familyCodec(model);
  },
  encodeRequest,
  decodeResponse,
  encodeResponse,
  decodeStream,
  decodeError,
  direct: {
    failure: answerFailure,
    usage: (answer) => decodeUsage(answer["usage"]),
    text: answerText,
  },
};

const novaCodec: UpstreamCodec = { ...converseCodec, limits: novaLimits };
const claudeCodec: UpstreamCodec = { ...converseCodec, limits: claudeLimits };
const oneSamplerCodec: UpstreamCodec = { ...converseCodec, limits: oneSamplerLimits };
const familyCodec = familyCodecs(converseCodec);
