/** The public exports of calls: everything between an authenticated request and its answer. */
export { createAnswerCache, sweepAnswers } from "./cached-answers.ts";
export { CallBody } from "./call-body.ts";
export { countInputTokens } from "./count-tokens.ts";
export type { TextCall, TextServices } from "./context.ts";
export { CallError } from "./end.ts";
export { mediaBody, picturesOf } from "./hooks.ts";
export { findModel, listModels } from "./models.ts";
export { findReplay, runImageCall, type ImageCall, type ImageServices } from "./image.ts";
export { createImageHolds, type ImageHolds } from "./image-holds.ts";
export type { Replay } from "./kept-answer.ts";
export { requestRow, type CacheOutcome, type CallRecord, type ImageRecord } from "./record.ts";
export { keepAliveTicks, keptOpen, type Reply } from "./reply.ts";
export { parametersOf } from "./supported.ts";
export { tagsOf, type TagHeaders } from "./tags.ts";
export { runTextCall } from "./text.ts";
export { InFlightCalls } from "./in-flight.ts";
export { tryProvider, type Trial, type TrialOptions } from "./try-provider.ts";
