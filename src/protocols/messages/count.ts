/** `POST /v1/messages/count_tokens`: a messages request without what only an answer needs. docs/protocols.md. */
import { reportedCount } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { TokenCounting } from "../counting.ts";
import { removeFilteredFields } from "../filter.ts";
import { compileCheck } from "../wire-check.ts";
import { fitCallIds } from "./call-ids.ts";
import { decodeRequest } from "./request.ts";
import { removeUnsigned } from "./unsigned.ts";
import { countTokensRequest } from "./wire.ts";

const validate = compileCheck(countTokensRequest);

/** Fields of a call that say how to answer: the vendor's count refuses them, and they change no count. */
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
    // A whole request has a maximum; it is no part of the input.
    return decodeRequest({ ...inputOf(body), max_tokens: 1 }, { model, stream: false });
  },
  ask(body, model) {
    const input = inputOf(body);
    fitCallIds(input, model);
    return { ...input, model };
  },
  countIn: ({ input_tokens: tokens }) => reportedCount(tokens),
  answer: (inputTokens) => ({ input_tokens: inputTokens }),
};
