/** Retry-After for callers, from the upstream's answer, and the outcome of refusals. Requirements: ERR; docs/routing.md. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { toGatewayError } from "../../src/base/errors.ts";
import { codecs } from "../../src/protocols/index.ts";
import { isTransient } from "../../src/storage/index.ts";
import { connectError, toExchangeError } from "../../src/upstream/exchange-error.ts";
import { outcomeOfFailure, outcomeOfStatus } from "../../src/upstream/index.ts";

/** Google's refusal: the retry delay is in the body, without a header. */
const limited = {
  error: {
    code: 429,
    message: "Quota exceeded.",
    status: "RESOURCE_EXHAUSTED",
    details: [
      { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" },
    ],
  },
};
const google = codecs.generate_content.decodeError(429, limited);
const silent = { message: "Later." };
const nowMs = Date.parse("2026-11-20T08:00:00Z");

describe("the Retry-After of a refusal", () => {
  it.each([
    { title: "the header's seconds", status: 429, wire: silent, header: "7", seconds: 7 },
    {
      title: "google's retryDelay, rounded up",
      status: 429,
      wire: google,
      header: undefined,
      seconds: 35,
    },
    {
      title: "the header rather than the body",
      status: 429,
      wire: google,
      header: "2",
      seconds: 2,
    },
    {
      title: "five seconds without a hint",
      status: 429,
      wire: silent,
      header: undefined,
      seconds: 5,
    },
    {
      title: "the time until a date",
      status: 503,
      wire: silent,
      header: "Fri, 20 Nov 2026 08:00:30 GMT",
      seconds: 30,
    },
    {
      title: "five seconds for a past date",
      status: 429,
      wire: silent,
      header: "Fri, 20 Nov 2026 07:59:59 GMT",
      seconds: 5,
    },
    {
      title: "five seconds for an unreadable value",
      status: 429,
      wire: silent,
      header: "soon",
      seconds: 5,
    },
    { title: "an hour at most", status: 503, wire: silent, header: "86400", seconds: 3600 },
    { title: "the header of an overload", status: 529, wire: silent, header: "12", seconds: 12 },
  ])("is: $title", ({ status, wire, header, seconds }) => {
    const { error } = outcomeOfStatus({ status, wire, headers: { "retry-after": header } }, nowMs);
    expect(error.retryAfterSeconds).toBe(seconds);
  });

  it.each([
    { headers: { "retry-after-ms": "1500", "retry-after": "2" }, ms: 1_500, seconds: 2 },
    { headers: { "retry-after-ms": "250" }, ms: 250, seconds: 1 },
    { headers: { "retry-after-ms": "0", "retry-after": "7" }, ms: 7_000, seconds: 7 },
    { headers: { "retry-after-ms": "soon", "retry-after": "7" }, ms: 7_000, seconds: 7 },
    { headers: { "retry-after-ms": "-1" }, ms: undefined, seconds: 5 },
  ])(
    "is read from retry-after-ms, which OpenAI and Azure send: $headers",
    ({ headers, ms, seconds }) => {
      const { credential, error } = outcomeOfStatus({ status: 429, wire: silent, headers }, nowMs);
      expect(credential).toEqual({ of: "model", retryAfterMs: ms });
      expect(error.retryAfterSeconds).toBe(seconds);
    },
  );

  it("is not set for a failure without a time of its own", () => {
    for (const status of [400, 401, 404, 500, 502, 504]) {
      const { error } = outcomeOfStatus(
        { status, wire: silent, headers: { "retry-after": "7" } },
        nowMs,
      );
      expect(error.retryAfterSeconds).toBeUndefined();
    }
  });
});

describe("the outcome of a status", () => {
  const outcome = (status: number, code?: string, retryAfter?: string) =>
    outcomeOfStatus(
      { status, wire: { message: "no", code }, headers: { "retry-after": retryAfter } },
      nowMs,
    );

  it("401, 402 and 403 count against the credential and not against health, and are not retried", () => {
    for (const status of [401, 402, 403]) {
      expect(outcome(status)).toMatchObject({
        fault: "provider",
        retrySame: false,
        hurtsHealth: false,
        credential: { of: status === 403 ? "model" : "credential" },
      });
    }
    // Google's wrong key and OpenAI's empty account have misleading statuses.
    expect(outcome(400, "API_KEY_INVALID").credential).toMatchObject({ of: "credential" });
    expect(outcome(429, "insufficient_quota").credential).toMatchObject({ of: "credential" });
  });

  // OpenAI's type and its newer codes, Moonshot's type, and Anthropic's codes: money and not a rate, though the status is 429.
  it.each([
    { type: "insufficient_quota" },
    { code: "credit_balance_exhausted" },
    { code: "organization_spend_limit_exceeded" },
    { code: "project_spend_limit_exceeded" },
    { type: "exceeded_current_quota_error" },
    { code: "enforced_spend_limit_reached" },
    { code: "contract_spend_limit_reached" },
    { code: "PostpaidBillOverdue" },
    { code: "CommodityNotPurchased" },
  ])("an account without money is not a rate limit: %o", (fields) => {
    const refusal = { status: 429, wire: { message: "no", ...fields }, headers: {} };
    expect(outcomeOfStatus(refusal, nowMs)).toMatchObject({
      fault: "provider",
      retrySame: false,
      credential: { of: "credential" },
      error: { code: "upstream_error", message: expect.stringContaining("own account, not yours") },
    });
  });

  it.each([
    "You exceeded your current quota, please check your plan and billing details. For details, see: https://help.aliyun.com/zh/model-studio/error-code#token-limit",
    "Allocated quota exceeded, please increase your quota limit.",
  ])(
    "Alibaba's tokens per minute are a rate limit, though it calls them a quota: %s",
    (message) => {
      const wire = { message, code: "insufficient_quota", type: "insufficient_quota" };
      expect(outcomeOfStatus({ status: 429, wire, headers: {} }, nowMs)).toMatchObject({
        retrySame: true,
        hurtsHealth: false,
        credential: { of: "model" },
        error: { code: "rate_limit_exceeded" },
      });
    },
  );

  it.each([
    [429, "Insufficient balance or no resource package. Please recharge."],
    [429, "余额不足或无可用资源包,请充值。"],
    [500, "insufficient balance (1008)"],
  ])(
    "an account without money is recognized by the message of a status %i: %s",
    (status, message) => {
      const refusal = { status, wire: { message }, headers: {} };
      expect(outcomeOfStatus(refusal, nowMs)).toMatchObject({
        fault: "provider",
        retrySame: false,
        hurtsHealth: false,
        credential: { of: "model" },
        error: { code: "upstream_error" },
      });
    },
  );

  it.each([
    // OpenAI-compatible DashScope, xAI, Groq, Fireworks, OpenAI, Anthropic twice, Google.
    [400, "Arrearage", "Access denied, please make sure your account is in good standing."],
    [400, "Client specified an invalid argument", "Incorrect API key provided: xa***yz."],
    [400, "organization_restricted", "Organization has been restricted."],
    [412, undefined, "Account acme is suspended, possibly due to reaching the spending limit."],
    [400, "billing_hard_limit_reached", "Billing hard limit has been reached."],
    [400, undefined, "You have reached your specified API usage limits. You will regain access"],
    [400, undefined, "This organization has been disabled."],
    [400, "FAILED_PRECONDITION", "User location is not supported for the API use."],
    [400, "FAILED_PRECONDITION", "Gemini API free tier is not available in your country."],
  ])("%i %s: %s counts against our account, not against the caller", (status, code, message) => {
    const refused = outcomeOfStatus({ status, wire: { message, code }, headers: {} }, nowMs);
    expect(refused).toMatchObject({
      fault: "provider",
      retrySame: false,
      hurtsHealth: false,
      credential: { of: "credential" },
      error: { code: "upstream_error" },
    });
  });

  it.each([
    [
      403,
      "Content violates usage guidelines. Team: 9f5e, API key ID: 3c2b, Model: m, Failed check: SAFETY_CHECK_TYPE_BIO",
      "Content violates usage guidelines. Model: m, Failed check: SAFETY_CHECK_TYPE_BIO",
    ],
    [
      403,
      'vendor/model-1 requires moderation on Azure. Your input was flagged for "violence".',
      'vendor/model-1 requires moderation on Azure. Your input was flagged for "violence".',
    ],
  ])(
    "a status %i after moderation is the caller's fault, and its message does not show the key: %s",
    (status, message, shown) => {
      const refused = outcomeOfStatus(
        { status, wire: { message, code: "permission-denied" }, headers: {} },
        nowMs,
      );
      expect(refused).toMatchObject({ fault: "caller", hurtsHealth: false, retrySame: false });
      expect(refused.credential).toBeUndefined();
      expect(refused.error).toMatchObject({ code: "upstream_rejected", status, message: shown });
    },
  );

  it("a rate limit counts against one credential at one model, for as long as the vendor says", () => {
    expect(outcome(429, undefined, "7")).toMatchObject({
      hurtsHealth: false,
      credential: { of: "model", retryAfterMs: 7_000 },
    });
    expect(outcome(429).credential?.retryAfterMs).toBeUndefined();
  });

  it("Groq's 498 for a full flex tier is an overload of that tier only, for the caller to retry", () => {
    expect(outcome(498, "capacity_exceeded", "3")).toMatchObject({
      fault: "provider",
      retrySame: true,
      hurtsHealth: false,
      error: { code: "no_provider_available", status: 503, retryAfterSeconds: 3 },
    });
    expect(outcome(498, "capacity_exceeded").credential).toBeUndefined();
  });

  it.each(["ServiceQuotaExceededException:http://internal.amazon.com/", "ThrottlingException"])(
    "Amazon's 400 is a rate limit if its header says %s",
    (type) => {
      const headers = { "x-amzn-errortype": type };
      const refused = outcomeOfStatus({ status: 400, wire: { message: "no" }, headers }, nowMs);
      expect(refused).toMatchObject({
        credential: { of: "model" },
        error: { code: "rate_limit_exceeded" },
      });
    },
  );

  it.each([
    "400 Bad Request The plain HTTP request was sent to HTTPS port nginx",
    "Client sent an HTTP request to an HTTPS server.",
  ])("a 400 for http:// in place of https:// is the operator's setup: %s", (message) => {
    const refused = outcomeOfStatus({ status: 400, wire: { message }, headers: {} }, nowMs);
    expect(refused).toMatchObject({ fault: "provider", hurtsHealth: true, retrySame: false });
  });

  it.each([
    "Operation not allowed",
    "Your account is not authorized to invoke this API operation.",
    "Access to Anthropic models is not allowed from unsupported countries, regions, or territories.",
  ])("Amazon's 400 about access means the same as 403: %s", (message) => {
    const refused = outcomeOfStatus({ status: 400, wire: { message }, headers: {} }, nowMs);
    expect(refused).toMatchObject({
      fault: "provider",
      hurtsHealth: false,
      credential: { of: "model" },
      error: { code: "upstream_error", message: expect.stringContaining("own account") },
    });
  });

  it("the caller's mistakes do not count against the provider", () => {
    for (const status of [400, 413, 415, 422, 418]) {
      const { fault, hurtsHealth, credential, retrySame } = outcome(status);
      expect({ fault, hurtsHealth, credential, retrySame }).toEqual({
        fault: "caller",
        hurtsHealth: false,
        credential: undefined,
        retrySame: false,
      });
    }
  });

  it.each([
    { retrySame: true, statuses: [408, 409, 424, 425, 499, 500, 502, 503, 529] },
    // Errors of the operator's setup, and a provider that has already waited long enough.
    { retrySame: false, statuses: [404, 405, 406, 407, 410, 411, 417, 421, 426, 431, 504] },
  ])(
    "$statuses count against the provider; retried at once: $retrySame",
    ({ retrySame, statuses }) => {
      for (const status of statuses)
        expect(outcome(status)).toMatchObject({ fault: "provider", hurtsHealth: true, retrySame });
    },
  );
});

it.each([
  ["EAI_AGAIN", true],
  ["ENOTFOUND", false],
  ["CERT_HAS_EXPIRED", false],
])("a connection that failed with %s: the same provider is asked again: %s", (code, retrySame) => {
  const error = Object.assign(new Error(code), { code });
  const outcome = outcomeOfFailure(connectError(error, "api.example.com"));
  expect(outcome).toMatchObject({ fault: "provider", hurtsHealth: true, retrySame });
});

describe("a shortage in this process", () => {
  const failing = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code });

  it.each(["EMFILE", "ENFILE", "ENOBUFS", "EADDRNOTAVAIL"])(
    "%s counts against no provider: 503 overloaded without a failover",
    (code) => {
      const exchange = toExchangeError(failing(code));
      expect(exchange).toMatchObject({ failure: "shortage" });
      expect(outcomeOfFailure(exchange)).toMatchObject({
        fault: "gateway",
        retrySame: false,
        hurtsHealth: false,
        silent: false,
        error: { code: "overloaded", status: 503, retryAfterSeconds: 2 },
      });
    },
  );

  it("is recognized by the system's error, even as a cause", async () => {
    // No machine has this address.
    const socket = connect({ host: "127.0.0.1", port: 9, localAddress: "192.0.2.1" });
    const [error] = (await once(socket, "error")) as [Error];
    expect(error).toMatchObject({ code: "EADDRNOTAVAIL" });
    expect(toExchangeError(error).failure).toBe("shortage");
    const wrapped = new Error("the file could not be read", { cause: error });
    expect(toGatewayError(wrapped)).toMatchObject({ code: "overloaded", retryAfterSeconds: 2 });
    expect(isTransient(error)).toBe(true);
  });

  it("HOOK-11: a peer that does not speak HTTP is reported by the error's name, as the error has no code", () => {
    const garbled = Object.assign(new Error("Expected HTTP/"), { code: undefined });
    garbled.name = "HTTPParserError";
    const { failure, message } = toExchangeError(garbled, "receiver");
    expect([failure, message]).toEqual([
      "broken",
      "the connection to the receiver broke (HTTPParserError)",
    ]);
  });

  it("is not assumed if one of several addresses refused", () => {
    const refused = failing("ECONNREFUSED");
    const both = Object.assign(new AggregateError([failing("EADDRNOTAVAIL"), refused]), {
      code: "EADDRNOTAVAIL",
    });
    expect(toExchangeError(both).failure).toBe("broken");
    expect(outcomeOfFailure(toExchangeError(both))).toMatchObject({ hurtsHealth: true });
    expect(toExchangeError(new AggregateError([failing("EMFILE")])).failure).toBe("shortage");
  });
});

it.each([
  [401, true],
  [403, true],
  [500, false],
])("a refusal of our key does not make callers suspect theirs: %i", (status, isKey) => {
  const { error } = outcomeOfStatus({ status, wire: silent, headers: {} }, nowMs);
  expect(error.code).toBe("upstream_error");
  expect(error.message.includes("this gateway's own key, not yours")).toBe(isKey);
});

describe("a vendor that says whether to retry", () => {
  it.each([
    ["false", false],
    ["true", true],
    [undefined, true],
  ])("x-should-retry: %s", (header, retrySame) => {
    for (const status of [429, 500, 503]) {
      const headers = { "x-should-retry": header };
      expect(outcomeOfStatus({ status, wire: silent, headers }, nowMs)).toMatchObject({
        fault: "provider",
        retrySame,
      });
    }
  });
});
