/** Streams of what is new: rows of the log, tasks and callbacks, the providers' state. */
export {
  createEventHub,
  type EventHub,
  type EventHubOptions,
  type Sight,
  type Sink,
  type StreamEvent,
} from "./hub.ts";
export type { NoticeTopic } from "./notices.ts";
export type { NewRow, Topic } from "./reader.ts";
