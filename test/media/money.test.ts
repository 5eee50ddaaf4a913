// The reservations and charges of media calls: bounds, counts and prices.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseUsd as usd } from "../../src/base/money.ts";
import type { MediaPrice } from "../../src/catalog/index.ts";
import { sandboxCatalog } from "../../src/catalog/index.ts";
import {
  mediaBound,
  mediaUsage,
  priceMedia,
  type ImageRequest,
  type ProducedFormat,
  type MediaUsage,
  type VideoRequest,
} from "../../src/media/index.ts";
import { frame, frames, requestOf, upload, uploads, type FamilyName } from "./support.ts";

const prices = new Map<FamilyName, MediaPrice>();
for (const model of sandboxCatalog("http://s").models.values()) {
  if (model.kind === "image" || model.kind === "video") {
    prices.set(model.family, model.offers[0]!.price);
  }
}
const boundOf = (request: ImageRequest | VideoRequest): bigint =>
  priceMedia(prices.get(request.family)!, mediaBound(request));
const chargeOf = (
  request: ImageRequest | VideoRequest,
  reportedUsage: Parameters<typeof mediaUsage>[1],
  count = 1,
): bigint =>
  priceMedia(prices.get(request.family)!, mediaUsage(request, reportedUsage, { count }).usage);

const prompt = "a lighthouse";

describe("videos billed by the second", () => {
  const ask = (fields: object) => requestOf("video-v1", { prompt, ...fields });

  it("reserve the requested seconds at the requested tier, and each input image", () => {
    expect(boundOf(ask({}))).toBe(usd("0.40"));
    expect(boundOf(ask({ resolution: "720p", duration: 15 }))).toBe(usd("1.05"));
    expect(boundOf(ask({ image: frame, last_frame: frame, duration: 10 }))).toBe(usd("0.52"));
    expect(boundOf(ask({ reference_images: frames(14), duration: 10 }))).toBe(usd("0.64"));
  });

  it("cost what the upstream produced, fractions of a second too", () => {
    const request = ask({ image: frame, resolution: "720p" });
    expect(chargeOf(request, { seconds: 6 })).toBe(usd("0.43"));
    expect(chargeOf(request, { seconds: 5.04 })).toBe(usd("0.3628"));
    expect(chargeOf(request, {})).toBe(boundOf(request));
  });

  it("T61: cost nothing if the vendor reports 0 seconds", () => {
    const request = ask({});
    expect(mediaUsage(request, { seconds: 0 }, { count: 1 }).usage).toMatchObject({ seconds: 0 });
    expect(chargeOf(request, { seconds: 0 })).toBe(0n);
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY])(
    "%d reported seconds are ignored, and the requested seconds are charged",
    (seconds) => {
      expect(chargeOf(ask({}), { seconds })).toBe(usd("0.40"));
    },
  );

  const perSecond = (nano: bigint): MediaPrice => ({
    basis: "video_seconds",
    outputSecond: { "480p": nano },
    inputImage: 0n,
  });
  const seconds = (count: number, resolution = "480p"): MediaUsage => ({
    unit: "video_seconds",
    seconds: count,
    resolution,
    inputImages: 0,
  });

  it.each([0.000249, 0.000251, 4.35, 5.04])(
    "BILL-18: %d seconds are charged to the microsecond",
    (count) => {
      const micros = BigInt(count.toFixed(6).replace(".", ""));
      expect(priceMedia(perSecond(1_000_000n), seconds(count))).toBe(micros);
    },
  );

  it("a resolution without a price is refused, never free", () => {
    for (const resolution of ["720p", "constructor"])
      expect(() => priceMedia(perSecond(1n), seconds(1, resolution))).toThrow(
        `resolution: ${resolution} has no price here; 480p have.`,
      );
  });
});

describe("videos billed by the token", () => {
  const ask = (fields: object) => requestOf("video-tokens", { prompt, ...fields });

  it.each([
    // The vendor's own example: 5 s of 1280x720 are 108,900 tokens.
    ["720p", 5, 108_900],
    ["480p", 5, Math.floor((864 * 496 * 121) / 1024)],
    ["480p", 5, Math.floor((992 * 432 * 121) / 1024)],
    ["720p", 15, Math.floor((1504 * 640 * 361) / 1024)],
    ["1080p", 15, Math.floor((1920 * 1088 * 361) / 1024)],
    ["1080p", 15, Math.floor((2206 * 946 * 361) / 1024)],
  ])(
    "reserve for %s and %i s at least %i tokens, and less than 10% more",
    (resolution, duration, tokens) => {
      const bound = mediaBound(ask({ resolution, duration }));
      expect(bound).toMatchObject({ unit: "video_tokens" });
      const { tokens: most } = bound as Extract<MediaUsage, { unit: "video_tokens" }>;
      expect(most).toBeGreaterThanOrEqual(tokens);
      expect(most).toBeLessThan(tokens * 1.1);
    },
  );

  it.each([
    [{ aspect_ratio: "21:9", resolution: "480p" }, 1120 * 480],
    [{ aspect_ratio: "21:9", resolution: "1080p" }, 2528 * 1088],
    [{ aspect_ratio: "adaptive", resolution: "720p" }, 1680 * 720],
    [{ image: frame, resolution: "720p" }, 1680 * 720],
    [{ aspect_ratio: "1:1", resolution: "720p" }, 962_560],
  ])("reserve for %j frames of %i pixels, the widest possible", (fields, pixels) => {
    const tokens = Math.ceil((pixels * 121) / 1024);
    expect(mediaBound(ask({ ...fields, duration: 5 }))).toMatchObject({
      unit: "video_tokens",
      tokens,
    });
  });

  it("cost the tokens that the vendor reports", () => {
    expect(chargeOf(ask({}), { videoTokens: 500_000 })).toBe(usd("3.5"));
    expect(chargeOf(ask({}), { videoTokens: 1 })).toBe(usd("0.000007"));
    expect(chargeOf(ask({}), { videoTokens: 0 })).toBe(0n);
    expect(chargeOf(ask({}), { videoTokens: 0.5 })).toBe(usd("0.000007"));
    expect(chargeOf(ask({}), {})).toBe(boundOf(ask({})));
  });

  it("BILL-09: cost their bound if the vendor reports more than ten times the request, in tokens or in seconds", () => {
    const { tokens } = mediaBound(ask({})) as Extract<MediaUsage, { unit: "video_tokens" }>;
    expect(chargeOf(ask({}), { videoTokens: 10 * tokens })).toBe(boundOf(ask({})) * 10n);
    expect(chargeOf(ask({}), { videoTokens: 10 * tokens + 1 })).toBe(boundOf(ask({})));
    const seconds = requestOf("video-v1", { prompt, duration: 8 });
    expect(chargeOf(seconds, { seconds: 80 })).toBe(boundOf(seconds) * 10n);
    expect(chargeOf(seconds, { seconds: 80.5 })).toBe(boundOf(seconds));
  });
});

describe("images billed by the piece", () => {
  it.each([
    [{ quality: "low", image_size: "1K" }, "0.02"],
    [{ quality: "low", image_size: "2K" }, "0.04"],
    [{ quality: "medium", image_size: "1K" }, "0.05"],
    [{ quality: "medium", image_size: "2K" }, "0.08"],
    [{}, "0.02"],
    [{ quality: "auto" }, "0.02"],
    [{ aspect_ratio: "21:9" }, "0.02"],
  ])("task-image-1 %j costs %s each, and references are billed apart from n", (fields, each) => {
    const images = uploads(3);
    const request = requestOf("task-image-1", { prompt, n: 4, ...fields }, { images });
    expect(boundOf(request)).toBe(4n * usd(each) + 3n * usd("0.002"));
    expect(chargeOf(request, {}, 3)).toBe(3n * usd(each) + 3n * usd("0.002"));
  });

  it("T56: a quality without a price is reserved at the highest price, not at 0", () => {
    const request = requestOf("task-image-1", { prompt, quality: "high", image_size: "2K" });
    expect(boundOf(request)).toBe(usd("0.08"));
  });

  it("image-c has one price, or one by image size", () => {
    expect(boundOf(requestOf("image-c", { prompt, n: 2, image_size: "4K" }))).toBe(usd("0.06"));
    const price: MediaPrice = {
      basis: "images",
      outputImage: { "1K": 10n, "2K": 30n },
      inputImage: 1n,
    };
    const of = (fields: object) =>
      priceMedia(
        price,
        mediaBound(requestOf("image-c", { prompt, ...fields }, { images: [upload()] })),
      );
    expect([of({}), of({ image_size: "2K" }), of({ size: "2048x2048" })]).toEqual([11n, 31n, 31n]);
    expect(() => of({ image_size: "4K" })).toThrow("image_size: 4K has no price here");
  });
});

describe("images billed by the token", () => {
  const counts = {
    unit: "image_tokens",
    inputTextTokens: 50,
    inputImageTokens: 1000,
    outputTextTokens: 10,
    outputImageTokens: 4160,
  } as const;

  it("T55: image tokens cost the image-token rate, in and out", () => {
    const expected = usd("0.00025") + usd("0.008") + usd("0.0001") + usd("0.1248");
    expect(priceMedia(prices.get("image-a")!, counts)).toBe(expected);
  });

  it("are rounded up once", () => {
    const price: MediaPrice = {
      basis: "image_tokens",
      input: 1n,
      imageInput: 1n,
      output: 1n,
      imageOutput: 1n,
    };
    expect(priceMedia(price, { ...counts, outputImageTokens: 0 })).toBe(1n);
  });

  const outputTokens = (family: FamilyName, fields: object) =>
    (mediaBound(requestOf(family, { prompt, ...fields })) as typeof counts).outputImageTokens;

  it.each([
    ["1024x1024", "low", 272],
    ["1024x1024", "medium", 1056],
    ["1024x1024", "high", 4160],
    ["1024x1536", "low", 408],
    ["1024x1536", "medium", 1584],
    ["1024x1536", "high", 6240],
    ["1536x1024", "low", 400],
    ["1536x1024", "medium", 1568],
    ["1536x1024", "high", 6208],
  ])("%s in %s has the vendor's %i tokens", (size, quality, tokens) => {
    expect(outputTokens("task-image-2", { size, quality })).toBe(tokens);
    expect(outputTokens("image-a", { size, quality, n: 3 })).toBe(3 * tokens);
  });

  it("T56: auto is reserved at the most expensive possibility", () => {
    expect(outputTokens("task-image-2", {})).toBe(6240);
    expect(outputTokens("task-image-2", { quality: "low" })).toBe(408);
    expect(outputTokens("image-b", {})).toBe(outputTokens("image-b", { size: "2160x3840" }));
    expect(outputTokens("image-a", { quality: "auto", size: "1024x1024" })).toBe(4160);
  });

  it("a size that only the upstream refuses is reserved like one that it makes", () => {
    for (const size of ["512x512000", "999999x999999", "huge"]) {
      expect([size, outputTokens("task-image-2", { size })]).toEqual([size, 6240]);
    }
  });

  it("references and the mask count as input, previews as output", () => {
    const more = { form: "edits", images: uploads(3), mask: upload() } as const;
    const one = mediaBound(requestOf("image-b", { prompt }, { ...more, mask: undefined }));
    const two = mediaBound(requestOf("image-b", { prompt }, more));
    const images = [one, two].map((usage) => (usage as typeof counts).inputImageTokens);
    expect(images[1]! * 3).toBe(images[0]! * 4);
    const stream = { prompt, stream: true };
    const previews = mediaBound(requestOf("image-b", { ...stream, partial_images: 3 }, more));
    const none = mediaBound(requestOf("image-b", stream, more)) as typeof counts;
    expect(previews).toMatchObject({ outputImageTokens: none.outputImageTokens + 300 });
  });

  it("an impossible count is treated as not reported", () => {
    const request = requestOf("image-a", { prompt });
    const withoutUsage = chargeOf(request, {});
    expect(chargeOf(request, { outputImageTokens: 1e30 })).toBe(withoutUsage);
    expect(chargeOf(request, { inputTextTokens: 1e9, outputImageTokens: 10 })).toBe(withoutUsage);
  });

  it("T61: reported counts win; counts missing beside them, and reported zeros, are 0", () => {
    const request = requestOf("image-a", { prompt });
    const reportedUsage = { inputTextTokens: 12, inputImageTokens: 0, outputImageTokens: 272 };
    expect(mediaUsage(request, reportedUsage, { count: 1 }).usage).toEqual({
      unit: "image_tokens",
      ...reportedUsage,
      outputTextTokens: 0,
    });
    expect(chargeOf(request, { outputImageTokens: 0 })).toBe(0n);
  });

  it("T56 BILL-09: without reported usage, automatic size and quality cost what was produced", () => {
    const outputOf = (fields: object, as: ProducedFormat) => {
      const request = requestOf("image-a", { prompt, ...fields });
      const { usage } = mediaUsage(request, {}, { count: as.sizes.length, as });
      expect(priceMedia(prices.get("image-a")!, usage)).toBeLessThanOrEqual(boundOf(request));
      return (usage as typeof counts).outputImageTokens;
    };
    const square = { sizes: ["1024x1024"] };
    expect(outputOf({}, { ...square, quality: "medium" })).toBe(1056);
    expect(outputOf({}, square)).toBe(4160);
    expect(outputOf({}, { ...square, quality: "auto" })).toBe(4160);
    expect(outputOf({ quality: "low" }, { ...square, quality: "high" })).toBe(272);
    expect(outputOf({ n: 2 }, { sizes: ["1024x1024", "1000x1000"], quality: "low" })).toBe(544);
    // The requested values replace any other answer.
    expect(outputOf({ size: "1536x1024", quality: "high" }, square)).toBe(6208);
    // The vendor reports no size, or an impossible one: the gateway assumes the dearest.
    const dearest = outputTokens("image-a", {});
    for (const size of [undefined, "auto", "999999x999999"])
      expect([size, outputOf({}, { sizes: [size] })]).toEqual([size, dearest]);
  });

  it("T56: a vendor that reports no image tokens does not make the call free", () => {
    const request = requestOf("image-a", { prompt });
    for (const reportedUsage of [
      { inputTextTokens: 12, inputImageTokens: 0 },
      { outputImageTokens: -5 },
      { inputTextTokens: 12, outputTextTokens: 5 },
    ]) {
      expect(chargeOf(request, reportedUsage)).toBe(chargeOf(request, {}));
      expect(mediaUsage(request, reportedUsage, { count: 1 }).isReported).toBe(false);
    }
    expect(chargeOf(request, {})).toBeGreaterThan(usd("0.12"));
    expect(chargeOf(request, {})).toBeLessThan(boundOf(request));
  });
});

describe("the bound of a random request", () => {
  const asks: fc.Arbitrary<ImageRequest | VideoRequest> = fc.oneof(
    fc
      .record({
        family: fc.constantFrom<FamilyName>("image-a", "image-b", "task-image-2"),
        size: fc.constantFrom("auto", "1024x1024", "1536x1024", "1024x1536"),
        quality: fc.constantFrom("low", "medium", "high", "auto"),
        n: fc.integer({ min: 1, max: 10 }),
        images: fc.integer({ min: 0, max: 16 }),
      })
      .map(({ family, images, ...fields }) =>
        requestOf(
          family,
          { prompt, ...fields },
          {
            images: family === "image-a" ? [] : uploads(images),
          },
        ),
      ),
    fc
      .record({
        family: fc.constantFrom<FamilyName>("video-v1.5", "video-seconds", "video-tokens"),
        resolution: fc.constantFrom("480p", "720p", "1080p"),
        duration: fc.integer({ min: 1, max: 15 }),
        references: fc.integer({ min: 0, max: 14 }),
      })
      .map(({ family, references, ...fields }) =>
        requestOf(family, { prompt, reference_images: frames(references), ...fields }),
      ),
    fc
      .record({
        family: fc.constantFrom<FamilyName>("task-image-1", "image-c"),
        image_size: fc.constantFrom("1K", "2K"),
        n: fc.integer({ min: 1, max: 10 }),
        images: fc.integer({ min: 0, max: 5 }),
      })
      .map(({ family, images, ...fields }) =>
        requestOf(family, { prompt, ...fields }, { images: uploads(images) }),
      ),
  );

  it("covers any usage within the request", () => {
    fc.assert(
      fc.property(asks, fc.double({ min: 0, max: 1, noNaN: true }), (request, share) => {
        const most = mediaBound(request);
        const part = (name: string) =>
          Math.floor(((most as unknown as Record<string, number>)[name] ?? 0) * share);
        const reportedUsage = {
          seconds: part("seconds"),
          videoTokens: part("tokens"),
          inputTextTokens: part("inputTextTokens"),
          inputImageTokens: part("inputImageTokens"),
          outputTextTokens: part("outputTextTokens"),
          outputImageTokens: part("outputImageTokens"),
        };
        const made = request.kind === "image" ? Math.ceil(request.n * share) : 1;
        expect(chargeOf(request, reportedUsage, made)).toBeLessThanOrEqual(boundOf(request));
        expect(chargeOf(request, {}, made)).toBeLessThanOrEqual(boundOf(request));
      }),
    );
  });
});
