/** xAI's answers with 200 to requests that its moderation refused: no result, and the reason beside it. */
import { describe, expect, it } from "vitest";
import { bytes, dialectOf, image } from "./media-support.ts";

const reason = "The prompt asks for a real person.";
const blocked = { state: "failed", code: "content_policy_violation", message: reason };

describe.each(["block_reason", "blocked_reason"])("a %s", (name) => {
  it.each([
    { status: "done", video: null, model: "grok-imagine-video" },
    { status: "done", video: { duration: 0 } },
    { model: "grok-imagine-video" },
  ])("is the reason of a video's end: %j", (answer) => {
    const dialect = dialectOf("xai", "video");
    expect(dialect.readPoll(200, bytes({ ...answer, [name]: reason }), "x")).toEqual(blocked);
  });

  it.each([{ data: [] }, { data: [{ b64_json: "" }] }, { usage: {} }])(
    "is the reason of the refusal of pictures: %j",
    (answer) => {
      const job = { request: image(), upstreamModel: "m", open: () => process.stdin };
      const dialect = dialectOf("xai", "image");
      expect(dialect.readSubmit(200, bytes({ ...answer, [name]: reason }), job)).toEqual(blocked);
    },
  );

  it("changes nothing beside a result, or while the job runs", () => {
    const dialect = dialectOf("xai", "video");
    const state = (answer: object) =>
      dialect.readPoll(200, bytes({ ...answer, [name]: reason }), "x").state;
    expect(state({ status: "done", video: { url: "https://x.ai/a.mp4" } })).toBe("succeeded");
    expect(state({ status: "pending" })).toBe("pending");
  });
});
