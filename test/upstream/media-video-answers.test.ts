/** The answers of video vendors on the wire, and their meaning. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MediaRefusal, MediaState } from "../../src/upstream/index.ts";
import { bytes, dialectOf, video } from "./media-support.ts";

type Vendor = "xai" | "dashscope" | "ark";
type Row = readonly [title: string, status: number, body: unknown, expected: object];

const url = "https://vendor.test/v.mp4";
const blocked = { state: "failed", code: "content_policy_violation" };
const broken = { state: "failed", code: "upstream_error" };

const polls: Readonly<Record<Vendor, readonly Row[]>> = {
  xai: [
    ["202 without a body", 202, "", { state: "pending" }],
    ["202 with progress", 202, { status: "pending", progress: 37 }, { state: "pending" }],
    ["202 that is not JSON", 202, "<html>", { state: "pending" }],
    ["200 pending", 200, { status: "pending" }, { state: "pending" }],
    ["an unknown state", 200, { status: "warming" }, { state: "pending" }],
    [
      "done",
      200,
      {
        status: "done",
        model: "grok-imagine-video",
        progress: 100,

        video: { url, duration: 8, respect_moderation: true },
        usage: { cost_in_usd_ticks: 5 },
      },
      { state: "succeeded", results: [{ from: "url", url }], reported: { seconds: 8 } },
    ],
    [
      "a URL without a status",
      200,
      { video: { url } },
      { state: "succeeded", results: [{ from: "url", url }], reported: { seconds: undefined } },
    ],
    [
      "a stored file",
      200,
      { status: "done", video: { duration: 3.5, file_output: { public_url: url } } },
      { state: "succeeded", results: [{ from: "url", url }], reported: { seconds: 3.5 } },
    ],
    [
      "blocked",
      200,
      { status: "done", video: { duration: 0, respect_moderation: false } },
      blocked,
    ],
    [
      "blocked, with a URL",
      200,
      { status: "done", video: { url, respect_moderation: false } },
      blocked,
    ],
    [
      "blocked, as a failure",
      200,
      { status: "failed", video: { respect_moderation: false } },
      blocked,
    ],
    ["done without a URL", 200, { status: "done", video: { storage_error: "full" } }, broken],
    [
      "failed by its argument",
      200,
      {
        status: "failed",
        error: { code: "invalid_argument", message: "Bad image." },
        video: { duration: 0 },
      },
      { state: "failed", code: "invalid_argument", message: "Bad image." },
    ],
    [
      "failed by itself",
      200,
      { status: "failed", error: { code: "internal_error", message: "node xai-17 crashed" } },
      { ...broken, message: "node xai-17 crashed" },
    ],
    ["failed without a reason", 200, { status: "failed" }, broken],
    ["expired", 200, { status: "expired" }, { state: "expired" }],
    ["unknown id", 404, { error: "Not found" }, { state: "missing" }],
    [
      "an error object",
      400,
      { error: { message: "m", type: "t", param: "p", code: "c" } },
      { state: "refused", status: 400, message: "m", param: "p", code: "c" },
    ],
    [
      "an error text with a code",
      400,
      { code: "Client specified an invalid argument", error: "m" },
      { state: "refused", status: 400, message: "m", code: "Client specified an invalid argument" },
    ],
    ["an error text alone", 429, { error: "m" }, { state: "refused", status: 429, message: "m" }],
    [
      "an error page",
      502,
      "<html><h1>502 Bad Gateway</h1>",
      { state: "refused", status: 502, message: "502 Bad Gateway" },
    ],
    ["a success that is not JSON", 200, "<html>", { state: "refused", status: 200 }],
  ],
  dashscope: [
    ["pending", 200, { output: { task_id: "t", task_status: "PENDING" } }, { state: "pending" }],
    ["running", 200, { output: { task_id: "t", task_status: "RUNNING" } }, { state: "pending" }],
    [
      "suspended",
      200,
      { output: { task_id: "t", task_status: "SUSPENDED" } },
      { state: "pending" },
    ],
    [
      "succeeded, with the seconds of the output",
      200,
      {
        request_id: "r",
        output: {
          task_id: "t",
          task_status: "SUCCEEDED",
          end_time: "2026-11-01 10:00:00.123",
          video_url: url,
        },
        usage: {
          duration: 12,
          output_video_duration: 5,
          input_video_duration: 7,
          SR: 720,
          video_count: 1,
        },
      },
      { state: "succeeded", results: [{ from: "url", url }], reported: { seconds: 5 } },
    ],
    [
      "succeeded, of an older model",
      200,
      {
        output: { task_status: "SUCCEEDED", video_url: url },
        usage: { duration: 5, video_count: 1 },
      },
      { state: "succeeded", results: [{ from: "url", url }], reported: { seconds: 5 } },
    ],
    ["succeeded without a result", 200, { output: { task_status: "SUCCEEDED" } }, broken],
    [
      "failed by inspection",
      200,
      {
        output: {
          task_status: "FAILED",
          code: "InvalidParameter.DataInspection",
          message: "Unsafe.",
        },
      },
      { ...blocked, message: "Unsafe." },
    ],
    [
      "failed by a parameter",
      200,
      { output: { task_status: "FAILED", code: "InvalidParameter", message: "Bad size." } },
      { state: "failed", code: "invalid_argument", message: "Bad size." },
    ],
    [
      "failed by our unpaid account",
      200,
      { output: { task_status: "FAILED", code: "Arrearage", message: "Account 17 owes money." } },
      { ...broken, message: "The provider failed to make the result." },
    ],
    [
      "failed by itself",
      200,
      { output: { task_status: "FAILED", code: "InternalError.Algo" } },
      broken,
    ],
    ["canceled", 200, { output: { task_status: "CANCELED" } }, { state: "canceled" }],
    ["unknown", 200, { output: { task_id: "t", task_status: "UNKNOWN" } }, { state: "missing" }],
    ["not found", 404, {}, { state: "missing" }],
    [
      "an error",
      429,
      { code: "Throttling.RateQuota", message: "m", request_id: "r" },
      { state: "refused", status: 429, code: "Throttling.RateQuota", message: "m" },
    ],
  ],
  ark: [
    ["queued", 200, { id: "cgt-1", status: "queued" }, { state: "pending" }],
    ["running", 200, { id: "cgt-1", status: "running", error: null }, { state: "pending" }],
    [
      "succeeded",
      200,
      {
        id: "cgt-1",
        model: "m",
        status: "succeeded",
        error: null,
        created_at: 1,
        updated_at: 2,
        content: { video_url: url, last_frame_url: "" },
        usage: { completion_tokens: 108_900, total_tokens: 108_900, tool_usage: { web_search: 0 } },
        seed: 10,
        resolution: "720p",
        ratio: "16:9",
        duration: 5,
        framespersecond: 24,
      },
      {
        state: "succeeded",
        results: [{ from: "url", url }],
        reported: { seconds: 5, videoTokens: 108_900 },
      },
    ],
    ["succeeded without a result", 200, { status: "succeeded", content: {} }, broken],
    [
      "failed by its content",
      200,
      {
        status: "failed",
        error: { code: "OutputVideoSensitiveContentDetected", message: "Sensitive." },
      },
      { ...blocked, message: "Sensitive." },
    ],
    [
      "failed by a picture of a person",
      200,
      {
        status: "failed",
        error: { code: "InputImageSensitiveContentDetected.PrivacyInformation", message: "m" },
      },
      blocked,
    ],
    [
      "failed by itself",
      200,
      { status: "failed", error: { code: "InternalServiceError", message: "m" } },
      broken,
    ],
    [
      "failed by our quota",
      200,
      {
        status: "failed",
        error: { code: "SetLimitExceeded", message: "account 2100 is out of quota" },
      },
      { ...broken, message: "The provider failed to make the result." },
    ],
    ["expired", 200, { status: "expired" }, { state: "expired" }],
    ["cancelled", 200, { status: "cancelled" }, { state: "canceled" }],
    ["not found", 404, { error: { code: "ResourceNotFound" } }, { state: "missing" }],
    ["gone", 410, { error: { code: "Gone", message: "gone" } }, { state: "missing" }],
    [
      "an error",
      403,
      { error: { code: "AccountOverdueError", message: "m", param: "", type: "Forbidden" } },
      { state: "refused", status: 403, code: "AccountOverdueError", message: "m" },
    ],
  ],
};

/** The id of the polled job. */
const jobs = { xai: "r", dashscope: "t", ark: "cgt-1" } as const;

describe.each(["xai", "dashscope", "ark"] as const)("a poll of %s", (vendor) => {
  it.each(polls[vendor])("is read: %s", (_title, status, body, expected) => {
    expect(dialectOf(vendor, "video").readPoll(status, bytes(body), jobs[vendor])).toMatchObject(
      expected,
    );
  });
});

const job = { request: video(), upstreamModel: "m", id: "task_1", open: () => undefined as never };

describe("the answer to a submission", () => {
  it.each([
    ["xai", { request_id: "r-1" }, "r-1"],
    ["dashscope", { output: { task_id: "t-1", task_status: "PENDING" }, request_id: "r" }, "t-1"],
    ["ark", { id: "cgt-1" }, "cgt-1"],
  ] as const)("has the job's id: %s", (vendor, body, id) => {
    const dialect = dialectOf(vendor, "video");
    expect(dialect.readSubmit(200, bytes(body), job)).toEqual({ state: "pending", id });
    expect(dialect.readSubmit(200, bytes({}), job)).toMatchObject({
      state: "refused",
      status: 200,
    });
    expect(dialect.readSubmit(422, bytes({ code: "c", message: "m" }), job)).toMatchObject({
      state: "refused",
      status: 422,
    });
  });

  it("is a failure if DashScope reports one at once", () => {
    const body = bytes({
      output: { task_id: "t", task_status: "FAILED", code: "InvalidParameter", message: "m" },
    });
    expect(dialectOf("dashscope", "video").readSubmit(200, body, job)).toMatchObject({
      state: "failed",
    });
  });
});

describe("the answer to a cancellation", () => {
  it.each(["dashscope", "ark"] as const)("is read as canceled or refused: %s", (vendor) => {
    const { readCancel } = dialectOf(vendor, "video");
    expect(readCancel!(200, bytes({ request_id: "r" }), "t")).toBe("canceled");
    expect(readCancel!(400, bytes({ code: "UnsupportedOperation" }), "t")).toBe("refused");
    expect(readCancel!(409, bytes(""), "t")).toBe("refused");
  });
});

/** The vendors' field names and values, so that random JSON reaches every branch. */
const words = [
  "status",
  "video",
  "url",
  "output",
  "task_status",
  "error",
  "code",
  "message",
  "content",
  "usage",
];
const states = [
  "done",
  "failed",
  "SUCCEEDED",
  "FAILED",
  "succeeded",
  "cancelled",
  "UNKNOWN",
  "expired",
];
const odd = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...states),
    fc.string(),
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...words), fc.string()), tie("value"), { maxKeys: 5 }),
  ),
})).value;
const anyBody = fc.oneof(
  odd.map(bytes),
  fc.uint8Array({ maxLength: 64 }).map((array) => Buffer.from(array)),
);
const anyStatus = fc.oneof(
  fc.constantFrom(200, 202, 400, 404, 429, 500),
  fc.integer({ min: 200, max: 599 }),
);

const answerStates = [
  "pending",
  "succeeded",
  "failed",
  "expired",
  "canceled",
  "missing",
  "refused",
];

/** Fields that an answer lacks although its state requires them. */
function flawsOf(answer: MediaState | MediaRefusal): string[] {
  switch (answer.state) {
    case "succeeded":
      return [
        answer.results.length === 0 ? "no result" : "",
        (answer.reported.seconds ?? 0) < 0 ? "negative seconds" : "",
      ].filter((flaw) => flaw !== "");
    case "failed":
    case "refused":
      return answer.message === "" ? ["no message"] : [];
    default:
      return [];
  }
}

describe("any answer of a video vendor", () => {
  it.each(["xai", "dashscope", "ark"] as const)("is read as a state or a refusal: %s", (vendor) => {
    const dialect = dialectOf(vendor, "video");
    fc.assert(
      fc.property(anyStatus, anyBody, (status, body) => {
        for (const answer of [
          dialect.readPoll(status, body, "t"),
          dialect.readSubmit(status, body, job),
        ]) {
          expect(answerStates).toContain(answer.state);
          expect(flawsOf(answer)).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });
});
