/** Vendors of images and videos: dialects, requests, and the meaning of refusals. */
export { ask, askForStream } from "./ask.ts";
export { AskFailure } from "./ask-failure.ts";
export type { MediaAnswer, StreamedAnswer } from "./ask-handler.ts";
export { droppedFieldNotes, mediaDialect, parametersDropped } from "./dialects.ts";
export { createImageEventReader, type ImageEvent } from "./image-events.ts";
export { maskAnswerWithHeaders, maskAnswer, outcomeOfRefusal, wordOf } from "./refusal.ts";
export type * from "./types.ts";
export { UploadError } from "./upload-error.ts";
