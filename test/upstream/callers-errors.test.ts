/** Which errors within an answer are the caller's. TXT-20; docs/routing.md. */
import { expect, it } from "vitest";
import { answeredError } from "../../src/upstream/index.ts";

const type = "invalid_request_error";

it.each([
  ["TXT-20: Anthropic's filter", { type, message: "Output blocked by content filtering policy" }],
  ["the same in a converted stream", { code: type, message: "Output blocked by it" }],
  ["a value that OpenAI's model lacks", { type, code: "unsupported_value", message: "Not 'max'" }],
  ["vLLM's code 400", { type: "BadRequestError", code: "400", message: "Bad grammar" }],
  ["Google's word", { type: "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", message: "Bad schema" }],
])("%s is the caller's mistake", (_name, wire) => {
  expect(answeredError("it holds an error", wire).refusal).toMatchObject({
    code: "upstream_rejected",
    message: wire.message,
  });
});

it.each([
  ["a wrong key", { type, code: "invalid_api_key", message: "no" }],
  ["an unknown model", { type, code: "model_not_found", message: "no" }],
  [
    "a model id that Amazon does not know",
    { type, message: "validationException: The provided model identifier is invalid." },
  ],
  ["an empty account", { type, message: "Your credit balance is too low to access the API." }],
  ["an overload", { type: "overloaded_error", message: "Overloaded" }],
  ["an empty account with code 400", { code: "400", message: "Your credit balance is too low" }],
  ["Google's wrong key", { type: "INVALID_ARGUMENT", code: "API_KEY_INVALID", message: "no" }],
  ["a failure with code 500", { type: "InternalServerError", code: "500", message: "no" }],
])("%s is not the caller's mistake", (_name, wire) => {
  expect(answeredError("it holds an error", wire).refusal).toBeUndefined();
});
