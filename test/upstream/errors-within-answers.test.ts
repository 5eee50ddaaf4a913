/** The meaning of an error within an answer, independent of the status. docs/routing.md. */
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import {
  codecs,
  upstreamErrors,
  type JsonObject,
  type ProtocolName,
} from "../../src/protocols/index.ts";
import { answeredError, outcomeOfFailure, outcomeOfStatus } from "../../src/upstream/index.ts";

const outcomeOf = (protocol: ProtocolName, error: JsonObject) =>
  outcomeOfFailure(
    answeredError("it holds an error", upstreamErrors(protocol).decodeError(200, { error })),
  );

describe("an error within an answer", () => {
  it.each([
    ["Amazon's and Anthropic's", "messages", { type: "rate_limit_error", message: "Slow" }],
    ["OpenAI's", "responses", { code: "rate_limit_exceeded", message: "Slow" }],
    ["OpenRouter's", "chat", { code: 429, message: "Provider returned error" }],
    [
      "Google's",
      "generate_content",
      { code: 429, status: "RESOURCE_EXHAUSTED", message: "Quota exceeded." },
    ],
  ] as const)("about a rate limit, %s, has the outcome of a 429", (_whose, protocol, error) => {
    const { fault, retrySame, hurtsHealth, credential, error: ours } = outcomeOf(protocol, error);
    expect({ fault, retrySame, hurtsHealth }).toEqual({
      fault: "provider",
      retrySame: true,
      hurtsHealth: false,
    });
    expect(credential).toMatchObject({ of: "model" });
    expect(ours).toMatchObject({ code: "rate_limit_exceeded", retryAfterSeconds: 5 });
  });

  it.each<JsonObject>([
    { code: "insufficient_quota" },
    { type: "insufficient_quota" },
    { type: "exceeded_current_quota_error" },
    { type: "rate_limit_error", code: "enforced_spend_limit_reached" },
  ])("about an account without money has the outcome of a 402: %o", (words) => {
    const outcome = outcomeOf("responses", { ...words, message: "You exceeded." });
    expect(outcome).toMatchObject({ hurtsHealth: false, credential: { of: "credential" } });
  });

  it("about Alibaba's tokens per minute is a rate limit, though it calls them a quota", () => {
    const link = "https://www.alibabacloud.com/help/en/model-studio/error-code#token-limit";
    const outcome = outcomeOf("chat", {
      code: "insufficient_quota",
      message: `You exceeded your current quota, check your plan. For details, see: ${link}`,
    });
    expect(outcome).toMatchObject({ credential: { of: "model" } });
    expect(outcome.error.code).toBe("rate_limit_exceeded");
  });

  it.each([
    ["OpenRouter's and vLLM's", "chat", { code: 400, message: "Bad grammar" }, 400],
    ["OpenRouter's for a long text", "chat", { code: 413, message: "Too large" }, 413],
    [
      "Google's",
      "generate_content",
      { code: 400, status: "INVALID_ARGUMENT", message: "Bad schema" },
      400,
    ],
  ] as const)(
    "TXT-20: with the status of a refusal, %s, goes to another provider and then to the caller",
    (_whose, protocol, error, status) => {
      const { fault, retrySame, hurtsHealth, error: ours } = outcomeOf(protocol, error);
      // Older vLLM gives code 400 to every failure within a stream.
      expect({ fault, retrySame, hurtsHealth }).toEqual({
        fault: "provider",
        retrySame: false,
        hurtsHealth: false,
      });
      expect(ours).toMatchObject({ code: "upstream_rejected", message: error.message, status });
    },
  );

  it.each([
    ["Anthropic's", "messages", { type: "overloaded_error", message: "Overloaded" }],
    ["OpenAI's", "responses", { code: "server_is_overloaded", message: "Busy" }],
    ["OpenRouter's", "chat", { code: 503, message: "Busy" }],
    ["Google's", "generate_content", { code: 503, status: "UNAVAILABLE", message: "Busy" }],
  ] as const)(
    "about an overload, %s, tells the caller to retry later",
    (_whose, protocol, error) => {
      const { retrySame, hurtsHealth, error: ours } = outcomeOf(protocol, error);
      expect({ retrySame, hurtsHealth }).toEqual({ retrySame: false, hurtsHealth: true });
      expect(ours).toMatchObject({ code: "no_provider_available", retryAfterSeconds: 5 });
    },
  );

  it.each([
    ["OpenRouter's 504", "chat", { code: 504, message: "Timed out" }, "upstream_timeout"],
    ["OpenRouter's 408", "chat", { code: 408, message: "Timed out" }, "upstream_timeout"],
    ["Anthropic's", "messages", { type: "timeout_error", message: "Late" }, "upstream_timeout"],
    [
      "a gateway's timeout",
      "responses",
      { code: "upstream_timeout", message: "Late" },
      "upstream_timeout",
    ],
    [
      "a gateway's stop",
      "responses",
      { code: "shutting_down", message: "Bye" },
      "no_provider_available",
    ],
    [
      "a gateway without provider",
      "responses",
      { code: "no_provider_available", message: "Busy" },
      "no_provider_available",
    ],
    ["LiteLLM's 502", "chat", { code: "502", message: "Bad gateway" }, "upstream_error"],
  ] as const)(
    "%s goes to another provider, and is told to the caller as what it is",
    (_whose, protocol, error, code) => {
      const { fault, retrySame, hurtsHealth, error: ours } = outcomeOf(protocol, error);
      expect({ fault, retrySame, hurtsHealth }).toEqual({
        fault: "provider",
        retrySame: false,
        hurtsHealth: true,
      });
      expect(ours.code).toBe(code);
    },
  );

  it.each([
    ["a wrong key", { code: 401, message: "No auth credentials found" }, "credential"],
    ["a missing right", { code: 403, message: "Key limit exceeded" }, "model"],
    ["a gateway's spent balance", { code: "insufficient_balance", message: "Empty" }, "credential"],
    [
      "a gateway's spent cap",
      { code: "key_daily_spend_cap_reached", message: "Cap" },
      "credential",
    ],
  ])("about %s pauses the credential", (_what, error, of) => {
    expect(outcomeOf("chat", error)).toMatchObject({
      fault: "provider",
      hurtsHealth: false,
      credential: { of },
      error: { code: "upstream_error" },
    });
  });

  it.each(["upstream_rejected", "context_length_exceeded"] as const)(
    "about a request that the upstream of another gateway refused is the caller's: %s",
    (code) => {
      const theirs = new GatewayError(code, "Bad");
      for (const protocol of ["chat", "generate_content"] as const) {
        const { error } = codecs[protocol].encodeError(theirs, "") as { error: JsonObject };
        expect(outcomeOf(protocol, error)).toMatchObject({
          fault: "caller",
          hurtsHealth: false,
          error: { code },
        });
      }
    },
  );

  it("about anything else counts against the provider", () => {
    const outcome = outcomeOf("messages", { type: "overloaded_error", message: "Overloaded" });
    expect(outcome).toMatchObject({ hurtsHealth: true, retrySame: false });
  });
});

describe("T43: a reasoning signature of another vendor", () => {
  it.each([
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "messages.3.content.0: Invalid `data` in `redacted_thinking` block",
    "Corrupted thought signature.",
    "Thought signature is not valid",
    "The encrypted content could not be verified.",
    "The encrypted content gAAA...wXBV could not be verified.",
  ])("%s: is tried at another provider", (message) => {
    const outcome = outcomeOfStatus({ status: 400, wire: { message }, headers: {} }, 0);
    expect(outcome).toMatchObject({ fault: "provider", retrySame: false, hurtsHealth: false });
    expect(outcome.error).toMatchObject({ code: "upstream_rejected", status: 400, message });
  });

  it.each([
    "Function call is missing a thought_signature in functionCall parts.",
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
  ])("%s: is the caller's fault", (message) => {
    const outcome = outcomeOfStatus({ status: 400, wire: { message }, headers: {} }, 0);
    expect(outcome.fault).toBe("caller");
  });
});

describe("an invalid tool call of a model", () => {
  const wire = {
    message: "Failed to call a function. Please adjust your prompt.",
    type: "invalid_request_error",
    code: "tool_use_failed",
  };

  it("T60: another provider is tried after Groq's 400, and the caller gets the vendor's message", () => {
    const outcome = outcomeOfStatus({ status: 400, wire, headers: {} }, 0);
    expect(outcome).toMatchObject({ fault: "provider", retrySame: false, hurtsHealth: false });
    expect(outcome.error).toMatchObject({ code: "upstream_rejected", status: 400 });
  });

  it("T60: does not count against health within an answer, with Groq's code or Gemini's message", () => {
    expect(outcomeOf("chat", wire)).toMatchObject({ fault: "provider", hurtsHealth: false });
    const { type } = wire;
    const worded = { type, message: "Oh. See 'failed_generation' for more details." };
    expect(outcomeOf("chat", worded)).toMatchObject({ fault: "provider", hurtsHealth: false });
  });
});
