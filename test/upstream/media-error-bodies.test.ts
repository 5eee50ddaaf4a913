/** Error bodies of media vendors, in the formats that text vendors have too: the vendor's reason is reported. */
import { describe, expect, it } from "vitest";
import { bytes, dialectOf } from "./media-support.ts";

const rows: readonly [title: string, body: unknown, expected: object][] = [
  ["an empty body", "", { message: "The upstream answered with status 422." }],
  [
    "plain text",
    "Failed to deserialize the JSON body into the target type: duration: invalid type",
    {
      message: "Failed to deserialize the JSON body into the target type: duration: invalid type",
      code: undefined,
    },
  ],
  [
    "a list of findings",
    { detail: [{ loc: ["body", "duration"], msg: "Input should be at most 10" }] },
    { message: "duration: Input should be at most 10" },
  ],
  ["findings in one text", { detail: "No such ratio." }, { message: "No such ratio." }],
  [
    "an object without a code",
    { error: { message: "Bad size.", type: "image_error", param: "size", code: null } },
    { message: "Bad size.", code: undefined, type: "image_error", param: "size" },
  ],
  ["a long text", "x".repeat(100_000), { message: "x".repeat(500) }],
];

describe.each([
  [
    "a poll of a video",
    (body: unknown) => dialectOf("xai", "video").readPoll(422, bytes(body), "t"),
  ],
  [
    "a submission of a video",
    (body: unknown) => dialectOf("ark", "video").readSubmit(422, bytes(body), {} as never),
  ],
  [
    "a request for pictures",
    (body: unknown) => dialectOf("openai", "image").readSubmit(422, bytes(body), {} as never),
  ],
])("the refusal of %s", (_what, read) => {
  it.each(rows)("is read from %s", (_title, body, expected) => {
    expect(read(body)).toMatchObject({ state: "refused", status: 422, ...expected });
  });
});

describe("an error with status 200 and a state that is null or empty", () => {
  const error = { code: "InvalidParameter", message: "No such ratio." };
  it.each([
    ["ark", null, { id: "t", status: null, error }],
    ["ark", "", { id: "t", status: "", error }],
    ["xai", null, { status: null, error }],
    ["dashscope", null, { output: { task_id: "t", task_status: null }, ...error }],
    ["dashscope", "", { output: { task_id: "t", task_status: "" }, ...error }],
  ] as const)(
    "T80: is a refusal by %s with %j, and not a job that runs",
    (vendor, _state, body) => {
      expect(dialectOf(vendor, "video").readPoll(200, bytes(body), "t")).toMatchObject({
        state: "refused",
        message: "No such ratio.",
      });
    },
  );
});

describe("a failed video of xAI whose error is a text", () => {
  it.each([
    [
      { error: "Generated video rejected by content moderation." },
      "content_policy_violation",
      "Generated video rejected by content moderation.",
    ],
    [
      { code: "Client specified an invalid argument", error: "The image is too small." },
      "invalid_argument",
      "The image is too small.",
    ],
    [{ error: "" }, "upstream_error", "The provider failed to make the result."],
  ])("TASK-34: fails with the vendor's reason: %j", (said, code, message) => {
    const body = bytes({ status: "failed", ...said });
    expect(dialectOf("xai", "video").readPoll(200, body, "t")).toEqual({
      state: "failed",
      code,
      message,
    });
  });
});
