/** The answers of image vendors on the wire, whole and streamed, and their meaning. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createImageEventReader,
  mediaDialect,
  outcomeOfRefusal,
  type ImageEvent,
} from "../../src/upstream/index.ts";
import { bytes, dialectOf, image } from "./media-support.ts";

const job = { request: image(), upstreamModel: "m", open: () => undefined as never };

const usage = {
  input_tokens: 50,
  output_tokens: 4160,
  total_tokens: 4210,
  input_tokens_details: { text_tokens: 40, image_tokens: 10 },
  output_tokens_details: { text_tokens: 60, image_tokens: 4100 },
};
const reported = {
  inputTextTokens: 40,
  inputImageTokens: 10,
  outputTextTokens: 60,
  outputImageTokens: 4100,
};

type Row = readonly [
  title: string,
  vendor: "openai" | "xai",
  status: number,
  body: unknown,
  expected: object,
];

const rows: readonly Row[] = [
  [
    "openai: two pictures, with what was rendered and the tokens by kind",
    "openai",
    200,
    {
      created: 1_713_833_628,
      data: [{ b64_json: "AAAA", revised_prompt: "A red fox" }, { b64_json: "BBBB" }],
      background: "opaque",
      output_format: "png",
      quality: "high",
      size: "1024x1024",
      usage,
    },
    {
      state: "succeeded",
      results: [
        { from: "base64", base64: "AAAA" },
        { from: "base64", base64: "BBBB" },
      ],
      revisedPrompts: ["A red fox", undefined],
      reported,
      rendered: { size: "1024x1024", quality: "high", background: "opaque", outputFormat: "png" },
    },
  ],
  [
    "openai: tokens of the output without details are all picture",
    "openai",
    200,
    { data: [{ b64_json: "AAAA" }], usage: { ...usage, output_tokens_details: undefined } },
    { reported: { ...reported, outputTextTokens: 0, outputImageTokens: 4160 } },
  ],
  [
    "openai: tokens of the input without details are all text",
    "openai",
    200,
    { data: [{ b64_json: "AAAA" }], usage: { input_tokens: 7, output_tokens: 9 } },
    {
      reported: {
        inputTextTokens: 7,
        inputImageTokens: 0,
        outputTextTokens: 0,
        outputImageTokens: 9,
      },
    },
  ],
  [
    "openai: no usage at all",
    "openai",
    200,
    { data: [{ b64_json: "AAAA" }] },
    { state: "succeeded", reported: { inputTextTokens: undefined, outputImageTokens: undefined } },
  ],
  [
    "openai: refused by moderation",
    "openai",
    400,
    {
      error: {
        message: "Rejected.",
        type: "image_generation_user_error",
        param: null,
        code: "moderation_blocked",
      },
    },
    { state: "refused", status: 400, code: "moderation_blocked", message: "Rejected." },
  ],
  [
    "openai: refused for a parameter",
    "openai",
    400,
    {
      error: {
        message: "Unknown parameter: 'x'.",
        type: "invalid_request_error",
        param: "x",
        code: "unknown_parameter",
      },
    },
    { state: "refused", status: 400, code: "unknown_parameter", param: "x" },
  ],
  [
    "openai: nothing made",
    "openai",
    200,
    { data: [] },
    { state: "failed", code: "upstream_error" },
  ],
  ["openai: no list", "openai", 200, { data: {} }, { state: "refused", status: 200 }],
  ["openai: not JSON", "openai", 200, "<html>", { state: "refused", status: 200 }],
  [
    "xai: pictures, one of them withheld",
    "xai",
    200,
    {
      data: [
        { b64_json: "AAAA", respect_moderation: true, mime_type: "image/jpeg" },
        { b64_json: "BBBB", respect_moderation: false },
        { url: "https://x.test/1.jpg", revised_prompt: "A red fox" },
      ],
      usage: { cost_in_usd_ticks: 200_000_000 },
    },
    {
      state: "succeeded",
      results: [
        { from: "base64", base64: "AAAA" },
        { from: "url", url: "https://x.test/1.jpg" },
      ],
      revisedPrompts: [undefined, "A red fox"],
    },
  ],
  [
    "xai: all withheld",
    "xai",
    200,
    { data: [{ url: "https://x.test/1.jpg", respect_moderation: false }] },
    { state: "failed", code: "content_policy_violation" },
  ],
  [
    "xai: refused",
    "xai",
    400,
    { code: "c", error: "m" },
    { state: "refused", code: "c", message: "m" },
  ],
];

const url = (name: string) => `https://vendor.test/${name}.png`;

const polls: readonly [title: string, output: object, expected: object][] = [
  [
    "choices, message by message",
    {
      finished: true,
      choices: [
        {
          finish_reason: "stop",
          message: {
            role: "assistant",
            content: [{ type: "image", image: url("1") }, { text: "a" }],
          },
        },
        { finish_reason: "stop", message: { content: [{ type: "image", image: url("2") }] } },
      ],
    },
    {
      state: "succeeded",
      results: [
        { from: "url", url: url("1") },
        { from: "url", url: url("2") },
      ],
    },
  ],
  [
    "older results, one of them failed",
    {
      results: [{ url: url("1") }, { code: "InternalError", message: "m" }],
      task_metrics: { TOTAL: 2, SUCCEEDED: 1, FAILED: 1 },
    },
    { state: "succeeded", results: [{ from: "url", url: url("1") }] },
  ],
  [
    "older results, all failed",
    { results: [{ code: "DataInspectionFailed", message: "Unsafe." }] },
    { state: "failed", code: "content_policy_violation", message: "Unsafe." },
  ],
  ["nothing", { choices: [] }, { state: "failed", code: "upstream_error" }],
];

describe("an image vendor's answer", () => {
  it.each(rows)("is read: %s", (...[, vendor, status, body, expected]) => {
    const answer = dialectOf(vendor, "image").readSubmit(status, bytes(body), job);
    expect(answer).toMatchObject(expected);
  });

  it.each(polls)("is read for dashscope: %s", (_title, output, expected) => {
    const body = bytes({
      output: { task_status: "SUCCEEDED", ...output },
      usage: { image_count: 2 },
    });
    expect(dialectOf("dashscope", "image").readPoll(200, body, "t")).toMatchObject(expected);
  });

  it("has one dialect for openai and openai-compatible; text vendors have none", () => {
    expect(mediaDialect("openai-compatible", "image")).toBe(mediaDialect("openai", "image"));
    expect(mediaDialect("anthropic", "image")).toBeUndefined();
    expect(mediaDialect("openai", "video")).toBeUndefined();
    expect(mediaDialect("ark", "image")).toBeUndefined();
  });

  it("has no job to poll if the vendor answers at once", () => {
    expect(dialectOf("openai", "image").readPoll(200, bytes({}), "t")).toEqual({
      state: "missing",
    });
    const waits = (["openai", "xai", "dashscope"] as const).map(
      (vendor) => dialectOf(vendor, "image").synchronous === true,
    );
    expect(waits).toEqual([true, true, false]);
  });

  it.each(["openai", "xai", "dashscope"] as const)(
    "is always read as a state or a refusal, for %s",
    (vendor) => {
      const dialect = dialectOf(vendor, "image");
      const names = [
        "data",
        "b64_json",
        "url",
        "usage",
        "output",
        "choices",
        "results",
        "task_status",
        "message",
      ];
      const odd = fc.letrec((tie) => ({
        value: fc.oneof(
          { maxDepth: 4 },
          fc.constantFrom("SUCCEEDED", "x"),
          fc.double(),
          fc.constant(null),
          fc.array(tie("value"), { maxLength: 3 }),
          fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 5 }),
        ),
      })).value;
      const states = [
        "pending",
        "succeeded",
        "failed",
        "expired",
        "canceled",
        "missing",
        "refused",
      ];
      fc.assert(
        fc.property(fc.constantFrom(200, 400, 500), odd, (status, value) => {
          const body = bytes(value);
          expect(states).toContain(dialect.readSubmit(status, body, job).state);
          expect(states).toContain(dialect.readPoll(status, body, "t").state);
        }),
        { numRuns: 300 },
      );
    },
  );
});

const common = {
  created_at: 1_620_000_000,
  size: "1024x1024",
  quality: "high",
  background: "opaque",
  output_format: "png",
};
const rendered = { size: "1024x1024", quality: "high", background: "opaque", outputFormat: "png" };

/** A stream in OpenAI's format. */
function stream(kind: "image_generation" | "image_edit", ...extra: string[]): string {
  const frame = (type: string, data: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...data, ...common })}\n\n`;
  return [
    frame(`${kind}.partial_image`, { b64_json: "AAAA", partial_image_index: 0 }),
    ": keep-alive\n\n",
    frame(`${kind}.partial_image`, { b64_json: "BBBB", partial_image_index: 1 }),
    frame(`${kind}.completed`, { b64_json: "CCCC", usage }),
    ...extra,
  ].join("");
}

const pictures: readonly ImageEvent[] = [
  { type: "partial", index: 0, base64: "AAAA", rendered },
  { type: "partial", index: 1, base64: "BBBB", rendered },
  { type: "completed", result: { from: "base64", base64: "CCCC" }, rendered, reported },
];

function read(...chunks: readonly (string | Buffer)[]): ImageEvent[] {
  const reader = createImageEventReader();
  return [...chunks.flatMap((chunk) => reader.push(Buffer.from(chunk))), ...reader.end()];
}

describe("an image stream", () => {
  it.each(["image_generation", "image_edit"] as const)(
    "%s: has previews, then the picture and its tokens",
    (kind) => {
      expect(read(stream(kind))).toEqual(pictures);
      expect(read(stream(kind, "data: [DONE]\n\n"))).toEqual(pictures);
    },
  );

  it("is read the same for any cut", () => {
    const whole = Buffer.from(stream("image_edit"));
    for (let cut = 0; cut <= whole.length; cut += 1) {
      expect(read(whole.subarray(0, cut), whole.subarray(cut))).toEqual(pictures);
    }
  });

  it("may lack previews, and a frame may lack its event name", () => {
    const data = JSON.stringify({
      type: "image_generation.completed",
      b64_json: "CCCC",
      usage,
      ...common,
    });
    expect(read(`data: ${data}\n\n`)).toEqual([pictures[2]]);
  });

  const failures: readonly [title: string, text: string][] = [
    [
      "an error frame",
      'event: error\ndata: {"type":"error","error":{"message":"m","type":"server_error","param":null,"code":"c"}}\n\n',
    ],
    ["an error in an unnamed frame", 'data: {"error":{"message":"m","code":"c"}}\n\n'],
    ["a frame without a picture", 'data: {"type":"image_edit.completed"}\n\n'],
    ["nothing at all", ""],
    [
      "only previews",
      'data: {"type":"image_edit.partial_image","b64_json":"AAAA","partial_image_index":0}\n\n',
    ],
    ["no events", "<html>bad gateway</html>"],
  ];

  it.each(failures)("ends with one error: %s", (_title, text) => {
    const events = read(text, "");
    expect(events.filter(({ type }) => type === "error").length).toBe(1);
    expect(events.at(-1)).toMatchObject({
      type: "error",
      refusal: { state: "refused", status: 502 },
    });
  });

  it("has no events after an error", () => {
    const error = 'data: {"error":{"message":"m","code":"c"}}\n\n';
    expect(read(error + stream("image_edit"), stream("image_edit"))).toEqual([
      {
        type: "error",
        refusal: { state: "refused", status: 502, code: "c", message: "m", param: undefined },
      },
    ]);
  });

  it("reports moderation to the caller with the vendor's text, and other errors without it", () => {
    const reported = ["moderation_blocked", "server_error"].map((code) => {
      const [event] = read(
        `data: {"error":{"message":"words of the vendor","code":"${code}"}}\n\n`,
      );
      return event?.type === "error" ? outcomeOfRefusal(event.refusal) : undefined;
    });
    expect(reported).toMatchObject([
      { fault: "caller", code: "content_policy_violation", message: "words of the vendor" },
      {
        fault: "provider",
        code: "upstream_error",
        message: "The provider failed with status 502.",
      },
    ]);
  });

  it("has a size limit for an event", () => {
    const reader = createImageEventReader();
    const piece = Buffer.alloc(16 * 1024 * 1024, "x");
    const events = [1, 2, 3, 4, 5, 6].flatMap(() => reader.push(piece));
    expect(events).toMatchObject([{ type: "error" }]);
    expect(reader.end()).toEqual([]);
  });
});
