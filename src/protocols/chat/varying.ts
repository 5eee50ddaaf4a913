/** What the frames of a stream of this protocol differ in, so that the rest need not be parsed. */
import type { Varying } from "../frame-reader.ts";

/** What chunks of one stream differ in: texts, arguments, OpenAI's padding, and usage where a vendor tells it with each. */
export const varying: Varying = {
  texts: ["content", "reasoning_content", "reasoning", "arguments", "obfuscation"],
  numbers: ["completion_tokens", "total_tokens"],
};
