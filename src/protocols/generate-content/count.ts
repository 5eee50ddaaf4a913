/**
 * `POST ...:countTokens`: either `contents` alone, or a whole request under `generateContentRequest`, with system instruction and tools.
 * docs/protocols.md.
 */
import { isObject } from "../../base/json.ts";
import { reportedCount } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { TokenCounting } from "../counting.ts";
import { direct } from "./direct.ts";
import { read } from "./names.ts";
import { decodeRequest } from "./request.ts";

/** Returns the inner request, or the body itself. */
function requestOf(body: JsonObject): JsonObject {
  const inner = read(body, "generateContentRequest");
  return isObject(inner) ? (inner as JsonObject) : body;
}

export const counting: TokenCounting = {
  decode: (body, model) => decodeRequest(requestOf(body), { model, stream: false }),
  callOf: requestOf,
  ask(body, model) {
    // Counts the body that the call itself would send.
    const { body: request } = direct.request(requestOf(body), { model, stream: false });
    return { generateContentRequest: { ...request, model: `models/${model}` } };
  },
  countIn: ({ totalTokens }) => reportedCount(totalTokens),
  answer: (inputTokens) => ({ totalTokens: inputTokens }),
};
