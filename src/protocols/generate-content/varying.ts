/** What the frames of a stream of this protocol differ in, so that the rest need not be parsed. */
import type { Varying } from "../frame-reader.ts";

/** What frames of one stream differ in: each tells its text and the counts so far. */
export const varying: Varying = {
  texts: ["text"],
  numbers: ["candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"],
};
