/** Pictures for the tests of the console, and the pixels of pictures on a page. */
import type { Locator } from "playwright-core";
import sharp from "sharp";

/** A PNG of one colour, as a chosen file. */
export const plainPicture = async (name: string, side: number, background: string) => ({
  name,
  mimeType: "image/png",
  buffer: await sharp({ create: { width: side, height: side, channels: 3, background } })
    .png()
    .toBuffer(),
});

/** The parts of the browser's canvas that the test uses; its own types have no browser. */
interface Browser {
  readonly OffscreenCanvas: new (
    width: number,
    height: number,
  ) => {
    getContext(kind: "2d"): {
      drawImage(image: unknown, x: number, y: number): void;
      getImageData(x: number, y: number, width: number, height: number): { data: Iterable<number> };
    };
  };
}

/** The colours of a shown picture at some places, as red, green, blue, alpha. */
export const pixelsAt = (
  picture: Locator,
  places: readonly (readonly [x: number, y: number])[],
): Promise<number[][]> =>
  picture.evaluate((image, all) => {
    const { naturalWidth, naturalHeight } = image as unknown as Record<string, number>;
    const { OffscreenCanvas } = globalThis as unknown as Browser;
    const surface = new OffscreenCanvas(naturalWidth!, naturalHeight!).getContext("2d");
    surface.drawImage(image, 0, 0);
    return all.map(([x, y]) => [...surface.getImageData(x, y, 1, 1).data]);
  }, places);
