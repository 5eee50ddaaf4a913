/**
 * Detects refusals due to a model's output that have the status of a bad request. Groq checks tool calls and JSON, and answers 400 if its
 * model wrote them wrong. Another provider's model may succeed, as after Gemini's MALFORMED_FUNCTION_CALL. docs/routing.md.
 */
import type { WireError } from "../protocols/index.ts";

const codes: ReadonlySet<string> = new Set([
  "tool_use_failed",
  "json_validate_failed",
  "output_parse_failed",
]);

/** True if a refusal is due to the model's output. */
export const isModelsMistake = ({ code, message }: WireError): boolean =>
  (code !== undefined && codes.has(code)) || message.includes("See 'failed_generation' for");
