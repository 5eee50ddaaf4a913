/** The pictures that the simulated vendors make and change: the fast way gives the same result as sharp, to the last bit. */
import sharp from "sharp";
import { expect, it } from "vitest";
import { edit, paint } from "../../sandbox/pictures.ts";

const colour = { r: 201, g: 88, b: 40 };
const size = { width: 151, height: 97 };

it.each(["png", "jpeg", "webp"] as const)(
  "a painted %s has the same pixels as one that sharp makes",
  async (format) => {
    const { bytes, transparent } = await paint(
      { size, colour, transparent: false },
      { format, quality: 100 },
    );
    const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
    const created = sharp({ create: { ...size, channels: 3, background: colour } });
    const whole = await created.toFormat(format, { quality: 100 }).toBuffer();
    expect([transparent, info.width, info.height, info.channels]).toEqual([false, 151, 97, 3]);
    expect(data.equals(await sharp(whole).raw().toBuffer())).toBe(true);
  },
);

it("an edit of an opaque image has no alpha; a transparent image keeps its alpha if allowed, or is filled with white", async () => {
  const rows = (alpha: number) =>
    Buffer.from(Array.from({ length: 9 * 7 * 4 }, (_, at) => (at % 4 === 3 ? alpha : at)));
  const edited = async (alpha: number, mayBeTransparent: boolean) => {
    const raw = { width: 9, height: 7, channels: 4 } as const;
    const source = await sharp(rows(alpha), { raw }).png().toBuffer();
    const change = { source, mask: undefined, size: raw, colour, mayBeTransparent };
    const { bytes, transparent } = await edit(change, { format: "png", quality: 100 });
    const { channels } = await sharp(bytes).metadata();
    return { transparent, channels, data: await sharp(bytes).removeAlpha().raw().toBuffer() };
  };
  const opaque = await edited(255, true);
  expect(opaque).toMatchObject({ transparent: false, channels: 3 });
  expect(await edited(0, true)).toMatchObject({ transparent: true, channels: 4 });
  const filled = await edited(0, false);
  expect(filled).toMatchObject({ transparent: false, channels: 3 });
  expect(filled.data.every((value) => value === 255)).toBe(true);
  expect([...opaque.data.subarray(0, 3)]).toEqual([100, 44, 21]);
});
