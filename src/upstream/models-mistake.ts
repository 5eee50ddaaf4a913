/**
 * Refusals of what a model wrote, with the status of a request at fault: Groq checks calls and JSON, and answers 400 where the model
 * wrote them wrong. Another provider's model may write them right, as after Gemini's MALFORMED_FUNCTION_CALL. docs/routing.md.
 */
import type { WireError } from "../protocols/index.ts";

const codes: ReadonlySet<string> = new Set([
  "tool_use_failed",
  "json_validate_failed",
  "output_parse_failed",
]);

/** Whether a refusal is of what the model wrote. */
export const isModelsMistake = ({ code, message }: WireError): boolean =>
  (code !== undefined && codes.has(code)) || message.includes("See 'failed_generation' for");
