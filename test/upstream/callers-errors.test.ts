/** Which errors within an answer are the caller's. TXT-20; docs/routing.md. */
import { expect, it } from "vitest";
import { answeredError } from "../../src/upstream/index.ts";

const type = "invalid_request_error";

it.each([
  ["TXT-20: Anthropic's filter", { type, message: "Output blocked by content filtering policy" }],
  ["the same in a converted stream", { code: type, message: "Output blocked by it" }],
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
])("%s is not the caller's mistake", (_name, wire) => {
  expect(answeredError("it holds an error", wire).refusal).toBeUndefined();
});
