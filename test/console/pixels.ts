/** Pictures for the tests of the console, and what is in those that a page shows. */
import type { Locator } from "playwright-core";
import sharp from "sharp";

/** A PNG of one colour, as a file that is chosen. */
export const plainPicture = async (name: string, side: number, background: string) => ({
  name,
  mimeType: "image/png",
  buffer: await sharp({ create: { width: side, height: side, channels: 3, background } })
    .png()
    .toBuffer(),
});

/** The colours of a shown picture at some places, as red, green, blue, alpha. */
export const pixelsAt = (
  picture: Locator,
  places: readonly (readonly [x: number, y: number])[],
): Promise<number[][]> =>
  // As text: it runs in the page, whose types are not those of the tests.
  picture.evaluate(`(image) => {
    const surface = new OffscreenCanvas(image.naturalWidth, image.naturalHeight).getContext("2d");
    surface.drawImage(image, 0, 0);
    return ${JSON.stringify(places)}.map(([x, y]) => [...surface.getImageData(x, y, 1, 1).data]);
  }`);
