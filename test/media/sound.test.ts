// The rates of videos with sound and of those without: which is held and charged, by the second and by the token.
import { describe, expect, it } from "vitest";
import type { MediaPrice } from "../../src/catalog/index.ts";
import { mediaBound, mediaUsage, priceMedia, type VideoRequest } from "../../src/media/index.ts";
import { read, requestOf, type FamilyName } from "./support.ts";

const prompt = "a lighthouse";

describe("videos with a rate for sound and one for silence", () => {
  const sounding: MediaPrice = {
    basis: "video_seconds",
    outputSecond: { "480p": { sound: 10n, silent: 4n }, "720p": 20n },
    inputImage: 0n,
  };
  const tokens: MediaPrice = {
    basis: "video_tokens",
    outputVideoToken: { sound: 10_000_000n, silent: 4_000_000n },
  };
  const rateAt = (price: MediaPrice, family: FamilyName, fields: object) => {
    const request = requestOf(family, { prompt, duration: 1, ...fields }) as VideoRequest;
    const { usage } = mediaUsage(request, { seconds: 1, videoTokens: 1 }, { count: 1 });
    const bound = mediaBound(request);
    const most = bound.unit === "video_tokens" ? BigInt(bound.tokens) : 1n;
    expect(priceMedia(price, bound)).toBe(most * priceMedia(price, usage));
    return priceMedia(price, usage);
  };

  it.each([
    ["video-v1", { audio: false }, 4n],
    ["video-v1", { audio: true }, 10n],
    ["video-v1", {}, 10n],
    ["video-v1.5", { audio: false, resolution: "720p" }, 20n],
  ] as const)(
    "%s %j: are held and charged by the second at the rate of what was asked for",
    (family, fields, rate) => {
      expect(rateAt(sounding, family, fields)).toBe(rate);
    },
  );

  it.each([
    [{ audio: false }, 4n],
    [{ audio: true }, 10n],
    [{}, 10n],
  ])(
    "video-tokens %j: are held and charged by the token at the rate of what was asked for",
    (fields, rate) => {
      expect(rateAt(tokens, "video-tokens", fields)).toBe(rate);
    },
  );

  it("VID-29: video-seconds has the rate of sound also if a call wanted none, because it drops `audio`", () => {
    const { request } = read("video-seconds", { prompt, duration: 1, audio: false });
    expect(priceMedia(sounding, mediaBound(request))).toBe(10n);
  });

  it("a token has the rate of its resolution, and no video is free for lack of one", () => {
    const byResolution: MediaPrice = {
      basis: "video_tokens",
      outputVideoToken: { "720p": 7_000_000n, "1080p": { sound: 9_000_000n, silent: 8_000_000n } },
    };
    const at = (fields: object) => rateAt(byResolution, "video-tokens", fields);
    expect(at({ resolution: "720p", audio: false })).toBe(7n);
    expect(at({ resolution: "1080p", audio: false })).toBe(8n);
    expect(at({ resolution: "1080p" })).toBe(9n);
    expect(() => at({})).toThrow("resolution: 480p has no price here; 720p, 1080p have.");
  });
});
