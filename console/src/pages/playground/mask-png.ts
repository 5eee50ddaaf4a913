/** Renders a mask as a file. */
import { draw, invert, type Size, type Stroke } from "./mask.ts";

/** Renders the mask of an image as PNG: parts to change have alpha 0. @throws Error where the browser cannot make one */
export async function maskOf(strokes: readonly Stroke[], size: Size): Promise<Blob> {
  const canvas = new OffscreenCanvas(size.width, size.height);
  const surface = canvas.getContext("2d")!;
  draw(surface, strokes, size);
  const image = surface.getImageData(0, 0, size.width, size.height);
  invert(image.data);
  surface.putImageData(image, 0, 0);
  return canvas.convertToBlob({ type: "image/png" });
}
