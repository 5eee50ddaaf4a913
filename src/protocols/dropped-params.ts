/** What a whole answer says of the parameters that were dropped or rewritten. TXT-17 to TXT-19. */
import type { JsonObject } from "./canonical/request.ts";

/** The answer with `gw.droppedParams`; as it is where nothing was dropped. */
export const withDropped = (answer: JsonObject, droppedParams: readonly string[]): JsonObject =>
  droppedParams.length === 0 ? answer : { ...answer, gw: { droppedParams: [...droppedParams] } };
