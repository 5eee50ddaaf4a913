/**
 * A refusal of a too long request reaches clients in words that they know. Cline and Roo Code look for "context length" or "context window"
 * beside a status of 400 (context-error-handling.ts), LiteLLM for "this model's maximum context length is" (exception_mapping_utils.py).
 */
import { expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { errorCodec } from "../../src/protocols/index.ts";
import { errorMembers, responseError } from "../../src/protocols/responses/errors.ts";

const tooLong = (message: string) => new GatewayError("context_length_exceeded", message);
const others = [
  "prompt is too long: 210004 tokens > 200000 maximum",
  "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  "Input is too long for requested model.",
  "Range of input length should be [1, 30720]",
];
const own = [
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
  "Your input exceeds the context window of this model. Please adjust your input and try again.",
];

const messagesOf = (error: GatewayError): unknown[] => [
  ...(["chat", "responses"] as const).map(
    (protocol) =>
      (errorCodec(protocol).encodeError(error, "1") as unknown as OpenAiError).error.message,
  ),
  responseError(error)["message"],
  errorMembers(error)["message"],
];
interface OpenAiError {
  readonly error: { readonly message: string };
}

it.each(others)("ERR-01: callers of OpenAI's protocols read OpenAI's words before: %s", (words) => {
  const told = `This model's maximum context length is exceeded: ${words}`;
  expect(new Set(messagesOf(tooLong(words)))).toEqual(new Set([told]));
});

it.each(own)("ERR-01: OpenAI's own words stay: %s", (words) => {
  expect(new Set(messagesOf(tooLong(words)))).toEqual(new Set([words]));
});

it("ERR-01: other errors keep their words", () => {
  const error = new GatewayError("upstream_rejected", "prompt is too long for fun");
  expect(new Set(messagesOf(error))).toEqual(new Set(["prompt is too long for fun"]));
});
