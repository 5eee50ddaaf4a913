/** Errors of the chat-completions protocol: before a stream, in a stream, and in the spelling of upstreams. Requirements: ERR. */
import type { GatewayError } from "../../base/errors.ts";
import type { WireObject } from "../../base/json.ts";
import type { JsonObject } from "../canonical/request.ts";
import { encodeErrorObject } from "../error-object.ts";

export {
  decodeErrorObject as decodeError,
  encodeErrorObject as encodeError,
  failedStatus,
} from "../error-object.ts";

/**
 * The last chunk of a broken stream: the error beside the chunk's own fields, and `finish_reason: "error"`. `openai` throws on it; clients
 * that read chunks themselves see that the end is not normal (T16). It does not match the shape of a chunk: some clients skip the error of a
 * valid chunk, and would take the cut answer for a whole one. For `@ai-sdk/openai` and `@mistralai/mistralai` its choice has no index, for
 * `@ai-sdk/deepseek` and `@ai-sdk/moonshotai` its object is another, for `@ai-sdk/perplexity` it has no time.
 */
export function errorChunk(fields: WireObject, error: GatewayError): JsonObject {
  const { created: _time, ...others } = fields as JsonObject;
  return {
    ...others,
    object: "error",
    choices: [{ delta: {}, finish_reason: "error" }],
    ...encodeErrorObject(error),
  };
}
