/** `POST /v1/messages/count_tokens`: a messages request without the fields that only affect the answer. docs/protocols.md. */
import { reportedCount } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { TokenCounting } from "../counting.ts";
import { removeFilteredFields } from "../filter.ts";
import { compileCheck } from "../wire-check.ts";
import { fitCallIds } from "./call-ids.ts";
import { decodeRequest } from "./request.ts";
import { disableThinkingInLoop } from "./unsigned-loop.ts";
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
  removeFilteredFields(input);
  removeUnsigned(input);
  return input;
}

export const counting: TokenCounting = {
  decode(body, model) {
    validate(body);
    // A complete request requires a maximum; it is not part of the input.
    return decodeRequest({ ...inputOf(body), max_tokens: 1 }, { model, stream: false });
  },
  ask(body, model) {
    const input = inputOf(body);
    disableThinkingInLoop(input, body["messages"], model);
    fitCallIds(input, model);
    return { ...input, model };
  },
  countIn: ({ input_tokens: tokens }) => reportedCount(tokens),
  answer: (inputTokens) => ({ input_tokens: inputTokens }),
};
