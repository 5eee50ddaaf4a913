/** The counts of a media call: whether its vendor reported them, and the counts of calls that made nothing. */
import { describe, expect, it } from "vitest";
import { mediaBound, mediaUsage, type MediaUsage } from "../../src/media/index.ts";
import { requestOf } from "./support.ts";

type Tokens = Extract<MediaUsage, { unit: "image_tokens" }>;
const prompt = "a lighthouse";
const image = requestOf("image-a", { prompt });

describe("a usage is marked as reported", () => {
  it.each([
    ["seconds", requestOf("video-v1", { prompt }), { seconds: 6 }],
    ["no seconds", requestOf("video-v1", { prompt }), { seconds: 0 }],
    ["video tokens", requestOf("video-tokens", { prompt }), { videoTokens: 500_000 }],
    ["image tokens", image, { outputImageTokens: 272 }],
  ] as const)("if its vendor reported %s", (_name, request, reported) => {
    expect(mediaUsage(request, reported, { count: 1 }).isReported).toBe(true);
    expect(mediaUsage(request, {}, { count: 1 }).isReported).toBe(false);
  });

  it("if pictures are billed by the piece, since they are counted", () => {
    const request = requestOf("task-image-1", { prompt });
    expect(mediaUsage(request, {}, { count: 1 }).isReported).toBe(true);
  });
});

describe("image tokens", () => {
  it("BILL-09: count as reported up to ten times the most, of text and pictures together", () => {
    const { unit: _unit, ...most } = mediaBound(image) as Tokens;
    const sum = Object.values(most).reduce((total, count) => total + count, 0);
    const at = (outputImageTokens: number) =>
      mediaUsage(image, { inputTextTokens: 10, outputImageTokens }, { count: 1 }).isReported;
    expect([at(10 * sum - 10), at(10 * sum - 9)]).toEqual([true, false]);
  });

  it("T56: have one for four bytes of the prompt, and none of text, if the vendor reports nothing", () => {
    const request = requestOf("image-a", { prompt: "x".repeat(400) });
    const { usage } = mediaUsage(request, {}, { count: 1 });
    expect(usage).toMatchObject({ inputTextTokens: 116, outputTextTokens: 0 });
  });
});
