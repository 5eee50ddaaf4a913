/** The chat-completions protocol. Requirements: TXT. */
import type { Codec, UpstreamCodec } from "../codec.ts";
import { decodeStream } from "./decode-stream.ts";
import { chatDirect } from "./direct.ts";
import { encodeRequest } from "./encode-request.ts";
import { encodeStream } from "./encode-stream.ts";
import { decodeError, encodeError } from "./errors.ts";
import { deepseek, fillText, kimi, mimo } from "./fit-history.ts";
import { geminiCodec, isGemini3 } from "./gemini.ts";
import { kimiSchema } from "./kimi-schema.ts";
import { conversionLimits } from "./limits.ts";
import { splittingCodec } from "./minimax.ts";
import { isMistral, mistralCodec } from "./mistral.ts";
import { decodeRequest } from "./request.ts";
import { decodeResponse, encodeResponse } from "./response.ts";

export { idText } from "./id-text.ts";

export const chatCodec: Codec = {
  name: "chat",
  limits: conversionLimits,
  forModel(model, vendor) {
    if (vendor?.splitsReasoning?.test(model)) return splittingMinimax;
    if (isMistral(model)) return mistralChat;
    if (deepseek.test(model)) return deepseekCodec;
    if (systemFirst.test(model)) return systemFirstCodec;
    if (isGemini3(model)) return geminiChat;
    if (mimo.test(model)) return mimoCodec;
    return kimi.test(model) ? kimiCodec : chatCodec;
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

const mistralChat = mistralCodec(chatCodec);
const geminiChat = geminiCodec(chatCodec);

/** Matches models that refuse a system turn within the conversation. Agents send such turns: Claude Code 2.1 in `messages`, Codex in `input`. */
const systemFirst = /(?:^|[/-])(?:qwen|qwq|minimax)/i;
const systemFirstCodec: UpstreamCodec = {
  ...chatCodec,
  limits: { ...conversionLimits, systemOnTop: true },
};
const splittingMinimax = splittingCodec(systemFirstCodec);

/** These models refuse a conversation whose calls lack the reasoning before them. */
const reasoningLimits = { ...conversionLimits, needsReasoning: true } as const;
const mimoCodec: UpstreamCodec = {
  ...chatCodec,
  limits: reasoningLimits,
  encodeRequest(request, model) {
    const body = encodeRequest(request, model);
    fillText(body);
    return body;
  },
};
const kimiCodec: UpstreamCodec = {
  ...chatCodec,
  limits: { ...reasoningLimits, toolSchema: kimiSchema },
};
/** DeepSeek refuses any tool choice while it reasons, which it does by default. */
const deepseekCodec: UpstreamCodec = {
  ...chatCodec,
  limits: { ...reasoningLimits, refusesAuto: true },
};
