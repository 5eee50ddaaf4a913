/** The chat-completions protocol. Requirements: TXT. */
import type { Codec, UpstreamCodec } from "../codec.ts";
import { decodeStream } from "./decode-stream.ts";
import { chatDirect } from "./direct.ts";
import { encodeRequest } from "./encode-request.ts";
import { encodeStream } from "./encode-stream.ts";
import { decodeError, encodeError } from "./errors.ts";
import { conversionLimits } from "./limits.ts";
import { isMistral, mistralCodec } from "./mistral.ts";
import { decodeRequest } from "./request.ts";
import { decodeResponse, encodeResponse } from "./response.ts";

export const chatCodec: Codec = {
  name: "chat",
  limits: conversionLimits,
  forModel(model) {
    if (isMistral(model)) return ofMistral;
    return wantsReasoning.test(model) ? reasoningCodec : chatCodec;
  },
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  decodeStream,
  encodeStream,
  encodeError,
  decodeError,
  direct: chatDirect,
};

const ofMistral = mistralCodec(chatCodec);

/** Kimi and DeepSeek, wherever they are served: they refuse a call in the conversation without the reasoning before it. */
const wantsReasoning = /(?:^|[/-])(?:kimi|deepseek)/i;
const reasoningCodec: UpstreamCodec = {
  ...chatCodec,
  limits: { ...conversionLimits, needsReasoning: true },
};
