/** `POST /v1/messages/count_tokens`: a messages request without the fields that only affect the answer. docs/protocols.md. */
import { reportedCount } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { TokenCounting } from "../counting.ts";
import { compileCheck } from "../wire-check.ts";
import { direct } from "./direct.ts";
import { decodeRequest } from "./request.ts";
import { removeUnsigned } from "./unsigned.ts";
import { countTokensRequest } from "./wire.ts";

const validate = compileCheck(countTokensRequest);

/** Fields that only affect the answer: the vendor's endpoint refuses them, and they do not change the count. */
const answerFields = [
  "max_tokens",
  "stream",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "metadata",
];

function inputOf(body: JsonObject): JsonObject {
  const input = { ...body };
  for (const name of answerFields) delete input[name];
  return input;
}

export const counting: TokenCounting = {
  decode(body, model) {
    validate(body);
    // A complete request requires a maximum; it is not part of the input.
    const input: JsonObject = { ...inputOf(body), max_tokens: 1 };
    removeUnsigned(input, model);
    return decodeRequest(input, { model, stream: false });
  },
  callOf: (body, maxOutputTokens) => ({ max_tokens: maxOutputTokens, ...body }),
  // Counts the body that the call itself would send.
  ask: (body, model) => direct.request(inputOf(body), { model, stream: false }).body,
  countIn: ({ input_tokens: tokens }) => reportedCount(tokens),
  answer: (inputTokens) => ({ input_tokens: inputTokens }),
};
