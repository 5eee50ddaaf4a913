/** Reports dropped and rewritten parameters in a whole answer. TXT-17 to TXT-19. */
import type { JsonObject } from "./canonical/request.ts";

/** Returns the answer with `gw.droppedParams`; unchanged if nothing was dropped. */
export const withDropped = (answer: JsonObject, droppedParams: readonly string[]): JsonObject =>
  droppedParams.length === 0 ? answer : { ...answer, gw: { droppedParams: [...droppedParams] } };
