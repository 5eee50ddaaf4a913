/** Image calls whose vendor gave no picture: who gets which error, and which provider may be asked next. T81; BILL-22. */
import { describe, expect, it } from "vitest";
import { failedAsk, notMade } from "../../src/calls/image-failures.ts";
import { AskFailure, type MediaState } from "../../src/upstream/index.ts";

describe("a request without an answer", () => {
  it("T81: is retried here and elsewhere if it was not sent", () => {
    const { failure } = failedAsk(new AskFailure("connect", false));
    expect(failure).toMatchObject({ allowsFailover: true, retrySame: true, outcome: "connect" });
    expect(failure.error).toMatchObject({
      code: "upstream_error",
      message: "The connection to the provider failed.",
    });
  });

  it.each(["dns", "tls", "total_timeout"] as const)(
    "is only retried elsewhere if another attempt would fail alike (%s)",
    (reason) => {
      const { failure } = failedAsk(new AskFailure(reason, false));
      expect(failure).toMatchObject({ allowsFailover: true, retrySame: false });
    },
  );

  it("T81: is never retried if it was sent", () => {
    const { failure } = failedAsk(new AskFailure("first_byte_timeout", true));
    expect([failure.allowsFailover, failure.retrySame]).toEqual([undefined, undefined]);
    expect(failure.error.shouldRetry).toBe(false);
    expect(failure.error.message).toMatch(/did not answer in time.*Nothing was charged/);
    expect(failedAsk(new AskFailure("broken", true)).failure.error.message).toMatch(
      /broke off its answer/,
    );
  });
});

describe("an answer without a picture", () => {
  const failed = (code: string): MediaState => ({
    state: "failed",
    code,
    message: "In its words.",
  });

  it.each([
    ["content_policy_violation", "content_policy_violation"],
    ["invalid_argument", "upstream_rejected"],
  ])("with the code %s is the caller's mistake, reported in the vendor's words", (code, ours) => {
    const { failure } = notMade(failed(code) as Exclude<MediaState, { state: "succeeded" }>);
    expect(failure).toMatchObject({ outcome: "failed", message: "In its words." });
    expect(failure.error).toMatchObject({ code: ours, message: "In its words." });
    expect(failure.health).toEqual({ hurtsHealth: false, fault: "caller" });
    expect(failure.allowsFailover).toBeUndefined();
  });

  it("with another code counts against the provider, and its text stays in the records", () => {
    const { failure } = notMade({ state: "failed", code: "internal", message: "In its words." });
    expect(failure).toMatchObject({ message: "In its words.", health: { hurtsHealth: true } });
    expect(failure.error).toMatchObject({ code: "upstream_error", shouldRetry: false });
    expect(failure.error.message).not.toContain("In its words");
    expect(notMade({ state: "expired" }).failure).toMatchObject({ outcome: "expired" });
  });
});

describe("a refusal", () => {
  const refused = (more: object = {}) =>
    notMade({ state: "refused", status: 429, message: "Slow down.", ...more }).failure;

  it("for a rate limit sets Retry-After: the vendor's time, else five seconds, at most an hour", () => {
    expect(refused().error.retryAfterSeconds).toBe(5);
    expect(refused({ retryAfterMs: 1_001 }).error.retryAfterSeconds).toBe(2);
    expect(refused({ retryAfterMs: 10 ** 8 }).error.retryAfterSeconds).toBe(3_600);
    expect(refused({ status: 500 }).error.retryAfterSeconds).toBeUndefined();
  });

  it("T81: is not repeated anywhere if the vendor may have begun the work", () => {
    expect(refused().allowsFailover).toBe(true);
    const { allowsFailover, error } = refused({ status: 504 });
    expect([allowsFailover, error.shouldRetry]).toEqual([false, false]);
  });

  it("for a request above the account's rate lets other accounts answer, and ends as 413", () => {
    const message =
      "Request too large for gpt-image-1 in organization org-4711 on input-images per min, tokens per min (TPM): Limit 1, Requested 2.";
    const tooLarge = refused({ status: 429, code: "rate_limit_exceeded", param: "image", message });
    expect(tooLarge).toMatchObject({
      allowsFailover: true,
      health: { otherAccountMayAnswer: true },
    });
    expect(tooLarge.health?.credential).toBeUndefined();
    expect(tooLarge.error).toMatchObject({
      code: "upstream_rejected",
      status: 413,
      param: "image",
    });
    expect(tooLarge.error.message).not.toContain("4711");
    expect(refused({ status: 500 }).error.status).toBe(502);
  });

  it("for a mistake in the caller's request keeps the vendor's code", () => {
    const mistake = refused({ status: 400, code: "bad_size", param: "size", message: "No." });
    expect(mistake.body).toMatchObject({ error: { code: "bad_size", message: "No." } });
    expect(refused({ status: 400, message: "No." }).body).toBeUndefined();
  });
});
