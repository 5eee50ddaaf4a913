/** The members that vary between the frames of a stream of this protocol; a reader need not parse the rest. */
import type { Varying } from "../frame-reader.ts";

/** Each frame has its own text and the counts so far. */
export const varying: Varying = {
  texts: ["text"],
  numbers: ["candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"],
};
