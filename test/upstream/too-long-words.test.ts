/**
 * A refusal of a too long request reaches clients in words that they know. Cline and Roo Code look for "context length" or "context window"
 * beside a status of 400 (context-error-handling.ts), LiteLLM for "this model's maximum context length is" (exception_mapping_utils.py).
 * Crush and Zed want the numbers too (charmbracelet/fantasy providers/openai/error.go, zed crates/anthropic).
 */
import { expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { errorCodec } from "../../src/protocols/index.ts";
import { errorMembers, responseError } from "../../src/protocols/responses/errors.ts";

const tooLong = (message: string) => new GatewayError("context_length_exceeded", message);
const counted = [
  "prompt is too long: 210004 tokens > 200000 maximum",
  "Input length 210004 exceeds the maximum allowed input length of 200000 tokens.",
];
const others = [
  "Input is too long for requested model.",
  "Prompt exceeds max length: 1,048,576",
  "invalid params, context window exceeds limit (2013)",
  "You passed 98305 input tokens and requested 32768 output tokens. However, the model's context length is only 131072 tokens.",
  "Range of input length should be [1, 30720]",
];
const own = [
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
  "Your input exceeds the context window of this model. Please adjust your input and try again.",
];

const messagesOf = (error: GatewayError): unknown[] => [
  ...(["chat", "responses"] as const).map(
    (protocol) => (errorCodec(protocol).encodeError(error, "1") as unknown as Told).error.message,
  ),
  responseError(error)["message"],
  errorMembers(error)["message"],
];
interface Told {
  readonly error: { readonly message: string };
}

it.each(others)("ERR-01: callers of OpenAI's protocols read OpenAI's words before: %s", (words) => {
  const told = `This model's maximum context length is exceeded: ${words}`;
  expect(new Set(messagesOf(tooLong(words)))).toEqual(new Set([told]));
});

it.each(counted)("ERR-01: with the numbers, if there are just two: %s", (words) => {
  const told = `This model's maximum context length is 200000 tokens. However, you requested 210004 tokens: ${words}`;
  expect(new Set(messagesOf(tooLong(words)))).toEqual(new Set([told]));
});

it.each([
  ["messages", "prompt is too long: 9001 tokens > 8192 maximum"],
  [
    "generate_content",
    "The input token count (9001) exceeds the maximum number of tokens allowed (8192)",
  ],
] as const)("ERR-01: callers of %s read their vendor's words and the numbers", (protocol, told) => {
  const { error } = errorCodec(protocol).encodeError(tooLong(own[0]!), "1") as unknown as Told;
  expect(error.message).toBe(`${told}: ${own[0]}`);
});

it.each(own)("ERR-01: OpenAI's own words stay: %s", (words) => {
  expect(new Set(messagesOf(tooLong(words)))).toEqual(new Set([words]));
});

it("ERR-01: other errors keep their words", () => {
  const error = new GatewayError("upstream_rejected", "prompt is too long for fun");
  expect(new Set(messagesOf(error))).toEqual(new Set(["prompt is too long for fun"]));
});
