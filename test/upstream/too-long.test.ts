/** Vendors' errors for a request that exceeds the model's context. docs/errors.md `context_length_exceeded`. */
import { describe, expect, it } from "vitest";
import { answeredError, outcomeOfFailure, outcomeOfStatus } from "../../src/upstream/index.ts";

const words = [
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
  "Your input exceeds the context window of this model. Please adjust your input and try again.",
  "prompt is too long: 210004 tokens > 200000 maximum",
  "input length and `max_tokens` exceed context limit: 150000 + 64000 > 200000, decrease input length",
  "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  "Input is too long for requested model.",
  "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
  "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
  "the request exceeds the available context size, try increasing it",
  "Range of input length should be [1, 30720]",
  "Please reduce the length of the messages or completion.",
  "prompt token count of 130000 exceeds the limit of 128000",
  "Invalid request: Your request exceeded model token limit: 262144",
  "invalid params, context window exceeds limit (2013)",
  "Prompt exceeds max length",
  "You passed 98305 input tokens and requested 32768 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 98304 tokens. Please reduce the length of the input prompt.",
  "The input (140000 tokens) is longer than the model's context length (131072 tokens).",
  "Requested token count exceeds the model's maximum context length of 131072 tokens.",
  "Input length (265330) exceeds model's maximum context length (262144).",
  "Input length 202935 exceeds the maximum allowed input length of 202720 tokens.",
  "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 9001>= n_ctx: 8192).",
  "prompt too long; exceeded max context length by 812 tokens",
  "The decoder prompt (length 8825) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.",
  "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1887 `inputs` tokens and 1024 `max_new_tokens`",
  "Input validation error: `inputs` must have less than 1024 tokens. Given: 1244",
  "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.",
  "Requested generation length 1 is not possible! The provided prompt is 4309 tokens long, so generating 1 tokens requires a sequence length of 4310, but the maximum supported sequence length is just 4096!",
  "Provider returned error: Requested input length 39818 exceeds maximum input length 32767",
  "Request body too large for gpt-4o model. Max size: 8000 tokens.",
  "AiError: 5021: The estimated number of input and maximum output tokens (155740) exceeded this model context window limit (128000).",
  "length of prompt_tokens (57535) must be less than max_seq_len (32768).",
  "Encountered an error when fetching new request: Prompt length (5056) exceeds maximum sequence length (2048)",
  "Prompt length (200) exceeds maximum input length (1)",
  "Number of input tokens exceeds maximum length.",
  "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4500. Try using a shorter prompt.",
  "Request size exceeds model context window",
  "Prompt 超长",
  "Prompt too long",
  "input (9739 tokens) is larger than the max context size (8192 tokens). skipping",
];

/** The words of servers that have no other status for it. */
const wordsOfFailures = [
  "rpc error: code = Internal desc = request (20652 tokens) exceeds the available context size (8192 tokens), try increasing it",
  "the request exceeds the available context size. try increasing the context size or enable context shift",
  "Context size has been exceeded.",
  "input (513 tokens) is too large to process. increase the physical batch size (current batch size: 512)",
  "Your input exceeds the context window of this model. Please adjust your input and try again.",
];

const refused = (message: string, code?: string) =>
  outcomeOfStatus({ status: 400, wire: { message, code }, headers: {} }, 0);

describe("a request that is too long for its model", () => {
  it.each(words)("is recognized by: %s", (message) => {
    const { error, fault, hurtsHealth } = refused(message);
    expect(error).toMatchObject({ code: "context_length_exceeded", status: 400, message });
    expect({ fault, hurtsHealth }).toEqual({ fault: "caller", hurtsHealth: false });
  });

  it("is recognized by a vendor's code, and other refusals are not", () => {
    expect(refused("Too big.", "context_length_exceeded").error.code).toBe(
      "context_length_exceeded",
    );
    // llama.cpp's code is the status.
    const wire = { code: "500", type: "exceed_context_size_error", message: "Too big." };
    expect(outcomeOfStatus({ status: 500, wire, headers: {} }, 0).error.code).toBe(
      "context_length_exceeded",
    );
    expect(refused("temperature must be at most 1").error.code).toBe("upstream_rejected");
  });

  it("has the status 400, whatever the vendor's: clients take 413 for too many bytes", () => {
    const wire = { code: "tokens_limit_reached", message: "Request body too large." };
    const { error } = outcomeOfStatus({ status: 413, wire, headers: {} }, 0);
    expect(error).toMatchObject({ code: "context_length_exceeded", status: 400 });
  });

  it.each(wordsOfFailures)("does not count against a server that fails at it: %s", (message) => {
    for (const status of [500, 502, 424]) {
      const outcome = outcomeOfStatus({ status, wire: { message }, headers: {} }, 0);
      expect(outcome.error).toMatchObject({ code: "context_length_exceeded", status: 400 });
      // Another provider may have more room.
      expect(outcome).toMatchObject({ fault: "provider", retrySame: false, hurtsHealth: false });
    }
  });

  it.each([429, 503, 529])("is no reason of a server's load, such as %i", (status) => {
    const message = "Rate limit reached: prompt is too long for the tokens left in this minute";
    const { error } = outcomeOfStatus({ status, wire: { message }, headers: {} }, 0);
    expect(error.code).not.toBe("context_length_exceeded");
  });

  it("is recognized in an error inside an answer, and other errors count against the provider", () => {
    const outcomeInAnswer = (message: string) =>
      outcomeOfFailure(answeredError("it is an error", { message }));
    expect(outcomeInAnswer(words[1]!)).toMatchObject({
      fault: "caller",
      hurtsHealth: false,
      error: { code: "context_length_exceeded", message: words[1] },
    });
    expect(outcomeInAnswer("The server had an error.")).toMatchObject({
      fault: "provider",
      hurtsHealth: true,
      error: { code: "upstream_error" },
    });
  });
});
