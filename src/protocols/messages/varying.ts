/** What the frames of a stream of this protocol differ in, so that the rest need not be parsed. */
import type { Varying } from "../frame-reader.ts";

/** What deltas of one block differ in. */
export const varying: Varying = { texts: ["text", "thinking", "partial_json"], numbers: [] };
