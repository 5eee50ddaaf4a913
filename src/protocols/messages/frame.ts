/** How an event of the gateway's own is written in a messages stream. */
import type { SseEvent } from "../../base/sse.ts";

/** A frame of a messages stream, whose data says its event's name again. */
export const frame = (type: string, fields: object): SseEvent => ({
  event: type,
  data: JSON.stringify({ type, ...fields }),
});
