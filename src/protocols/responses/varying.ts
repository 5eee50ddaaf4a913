/** What the frames of a stream of this protocol differ in, so that the rest need not be parsed. */
import type { Varying } from "../frame-reader.ts";

/** What events of one kind differ in within one stream. */
export const varying: Varying = {
  texts: ["delta", "obfuscation"],
  numbers: ["sequence_number"],
};
