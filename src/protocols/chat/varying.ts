/** The members that vary between the frames of a stream of this protocol; a reader need not parse the rest. */
import type { Varying } from "../frame-reader.ts";

/** The varying members of chunks: texts, arguments, OpenAI's padding, and usage if a vendor sends it in each chunk. */
export const varying: Varying = {
  texts: ["content", "reasoning_content", "reasoning", "arguments", "obfuscation"],
  numbers: ["completion_tokens", "total_tokens"],
};
