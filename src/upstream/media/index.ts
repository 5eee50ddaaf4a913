/** Vendors of images and videos: their dialects, asking them, and what their refusals mean. */
export {
  ask,
  AskFailure,
  askForStream,
  isEventStream,
  type AskLimits,
  type MediaAnswer,
  type StreamedAnswer,
} from "./ask.ts";
export { lostFields, mediaDialect } from "./dialects.ts";
export { createImageEventReader, type ImageEvent } from "./image-events.ts";
export { asAnswered, asTold, outcomeOfRefusal } from "./refusal.ts";
export type * from "./types.ts";
