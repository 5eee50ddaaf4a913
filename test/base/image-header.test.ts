// Format and size of a picture, read from its header without decoding it: real files of all three formats, and broken ones.
import * as fc from "fast-check";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import {
  ImageHeaderReader,
  readImageHeader,
  readProducedPicture,
} from "../../src/base/image-header.ts";
import { withMetadata } from "../support/metadata.ts";

const picture = (width: number, height: number, channels: 3 | 4 = 3) =>
  sharp({
    create: { width, height, channels, background: { r: 200, g: 30, b: 30, alpha: 0.5 } },
  });
const noise = (width: number, height: number) =>
  sharp(Buffer.from(Array.from({ length: width * height * 3 }, (_, at) => (at * 7919) % 251)), {
    raw: { width, height, channels: 3 },
  });

const files: [name: string, make: () => Promise<Buffer>, expected: object][] = [
  ["a PNG", () => picture(3, 5).png().toBuffer(), { width: 3, height: 5, hasAlpha: false }],
  [
    "a PNG with alpha",
    () => picture(1024, 640, 4).png().toBuffer(),
    { width: 1024, height: 640, hasAlpha: true },
  ],
  [
    "a grey PNG",
    () => picture(9, 9).greyscale().toColourspace("b-w").png().toBuffer(),
    { width: 9, height: 9, hasAlpha: false },
  ],
  [
    "a PNG whose palette has transparency",
    () => picture(16, 16, 4).png({ palette: true }).toBuffer(),
    { width: 16, height: 16, hasAlpha: true },
  ],
  [
    "an interlaced PNG",
    () => noise(40, 30).png({ progressive: true }).toBuffer(),
    { width: 40, height: 30, hasAlpha: false },
  ],
  ["a JPEG", () => noise(33, 17).jpeg().toBuffer(), { width: 33, height: 17, hasAlpha: false }],
  [
    "a progressive JPEG",
    () => noise(64, 48).jpeg({ progressive: true }).toBuffer(),
    { width: 64, height: 48, hasAlpha: false },
  ],
  [
    "a JPEG with metadata",
    () =>
      noise(20, 10)
        .withExif({ IFD0: { Copyright: "x".repeat(30_000) } })
        .jpeg()
        .toBuffer(),
    { width: 20, height: 10, hasAlpha: false },
  ],
  ["a lossy WebP", () => noise(31, 65).webp().toBuffer(), { width: 31, height: 65 }],
  [
    "a lossy WebP with alpha",
    () => picture(300, 200, 4).webp().toBuffer(),
    { width: 300, height: 200, hasAlpha: true },
  ],
  [
    "a lossless WebP",
    () => noise(120, 11).webp({ lossless: true }).toBuffer(),
    { width: 120, height: 11 },
  ],
  [
    "a lossless WebP with alpha",
    () => picture(12, 14, 4).webp({ lossless: true }).toBuffer(),
    { width: 12, height: 14, hasAlpha: true },
  ],
];

describe("the header of a picture", () => {
  it.each(files)("is read from %s as sharp reads it", async (_name, make, expected) => {
    const file = await make();
    const { format, width, height } = await sharp(file).metadata();
    expect(readImageHeader(file)).toMatchObject({
      mediaType: `image/${format}`,
      width,
      height,
      ...expected,
    });
  });

  it.each([1, 3, 5, 6, 8])(
    "says whether a photo of orientation %s is shown turned",
    async (orientation) => {
      const file = await noise(33, 17).jpeg().withMetadata({ orientation }).toBuffer();
      expect((await sharp(file).metadata()).orientation).toBe(orientation);
      const header = { mediaType: "image/jpeg", width: 33, height: 17, hasAlpha: false };
      expect(readImageHeader(file)).toEqual(
        orientation < 5 ? header : { ...header, isTurned: true },
      );
      const bytes = new ImageHeaderReader();
      const readings = Array.from(file, (byte) => bytes.push(Buffer.of(byte)));
      expect(readings.at(-1)).toEqual(readImageHeader(file));
    },
  );

  it.each(files)("is never read wrongly from the first bytes of %s", async (_name, make) => {
    const file = await make();
    const step = Math.max(1, Math.floor(file.length / 500));
    const readings = Array.from({ length: Math.floor(file.length / step) }, (_, at) =>
      readImageHeader(file.subarray(0, at * step)),
    );
    const results = new Set(
      readings.filter((one) => one !== "incomplete").map((one) => JSON.stringify(one)),
    );
    expect([...results]).toEqual([JSON.stringify(readImageHeader(file))]);
  });

  it.each(["jpeg", "png"] as const)(
    "is found in a %s behind 3 MB of metadata, read in pieces",
    async (format) => {
      const file = withMetadata(await picture(7, 9).toFormat(format).toBuffer(), 3_000_000);
      expect(await sharp(file).metadata()).toMatchObject({ format, width: 7, height: 9 });
      for (const size of [1, 7, 65_536]) {
        const reader = new ImageHeaderReader();
        let read = 0;
        let reading = reader.push(Buffer.alloc(0));
        for (; reading === "incomplete" && read < file.length; read += size)
          reading = reader.push(file.subarray(read, read + size));
        expect(reading).toMatchObject({ mediaType: `image/${format}`, width: 7, height: 9 });
        expect(read).toBeGreaterThan(3_000_000);
      }
    },
  );

  it.each([
    ["fill bytes", Buffer.alloc(25_000_000, 0xff)],
    ["empty segments", Buffer.alloc(25_000_000, Buffer.from([0xe1, 0, 2, 0xff]))],
  ])("is given up early in a JPEG of nothing but %s", (_what, parts) => {
    const reader = new ImageHeaderReader();
    const file = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), parts]);
    let read = 0;
    while (reader.push(file.subarray(read, read + 65_536)) === "incomplete") read += 65_536;
    expect(read).toBeLessThan(1_000_000);
  });

  it.each(files)(
    "IMG-25: has the size that sharp reads, for %s that a vendor produced",
    async (_name, make) => {
      const file = await make();
      const { format, width, height } = await sharp(file).metadata();
      expect(readProducedPicture(file.toString("base64"))).toMatchObject({
        mediaType: `image/${format}`,
        width,
        height,
      });
    },
  );

  it.each(["jpeg", "png"] as const)(
    "IMG-25: is read from a produced %s behind metadata; for a PNG also if the rest is missing",
    async (format) => {
      const file = withMetadata(await picture(7, 9).toFormat(format).toBuffer(), 3_000_000);
      const made = { mediaType: `image/${format}`, width: 7, height: 9 };
      expect(readProducedPicture(file.toString("base64"))).toMatchObject(made);
      const cut = file.subarray(0, 75).toString("base64");
      const known = { jpeg: "incomplete", png: made };
      expect(readProducedPicture(cut)).toEqual(known[format]);
    },
  );

  it("is incomplete for a produced PNG without a size", () => {
    const start = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
    const none = Buffer.concat([start, Buffer.alloc(8), Buffer.from([8, 2, 0, 0, 0, 0, 0, 0, 0])]);
    expect(readProducedPicture(none.toString("base64"))).toBe("incomplete");
    expect(readProducedPicture(start.toString("base64"))).toBe("incomplete");
  });

  it("is invalid for other formats and for text", async () => {
    const gif = await picture(4, 4).gif().toBuffer();
    const tiff = await picture(4, 4).tiff().toBuffer();
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
    const pdf = Buffer.from("%PDF-1.7\n");
    for (const file of [gif, tiff, svg, pdf, Buffer.from("RIFFxxxxWAVEfmt ".padEnd(60))])
      expect(readImageHeader(file)).toBe("invalid");
  });

  it("is invalid for a picture without width or height", async () => {
    const file = await picture(4, 4).png().toBuffer();
    file.writeUInt32BE(0, 16);
    expect(readImageHeader(file)).toBe("invalid");
  });

  it("is read from any bytes without an exception", () => {
    const start = fc.constantFrom("\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "RIFF\0\0\0\0WEBPVP8 ", "");
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 200 }), (magic, rest) => {
        const reading = readImageHeader(Buffer.concat([Buffer.from(magic, "latin1"), rest]));
        const area = typeof reading === "object" ? reading.width * reading.height : 1;
        expect(area).toBeGreaterThan(0);
      }),
      { numRuns: 2000 },
    );
  });
});
