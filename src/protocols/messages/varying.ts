/** The members that vary between the frames of a stream of this protocol; a reader need not parse the rest. */
import type { Varying } from "../frame-reader.ts";

/** The varying members of the deltas of one block. */
export const varying: Varying = { texts: ["text", "thinking", "partial_json"], numbers: [] };
