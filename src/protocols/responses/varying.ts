/** The members that vary between the frames of a stream of this protocol; a reader need not parse the rest. */
import type { Varying } from "../frame-reader.ts";

/** The varying members of events of one kind in a stream. */
export const varying: Varying = {
  texts: ["delta", "obfuscation"],
  numbers: ["sequence_number"],
};
