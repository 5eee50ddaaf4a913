/** A mask as the strokes that make it: drawn again from the first one, so that undo is to leave one out. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** In pixels of the picture. */
export interface Stroke {
  readonly points: readonly Point[];
  readonly size: number;
  readonly erases: boolean;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** One more point on the last stroke. */
export const extended = (strokes: readonly Stroke[], point: Point): Stroke[] => {
  const last = strokes.at(-1);
  if (last === undefined) return [];
  return [...strokes.slice(0, -1), { ...last, points: [...last.points, point] }];
};

/** A point that stays within the picture. */
export const within = ({ x, y }: Point, { width, height }: Size): Point => ({
  x: Math.min(Math.max(x, 0), width),
  y: Math.min(Math.max(y, 0), height),
});

type Surface = Pick<
  CanvasRenderingContext2D,
  | "globalCompositeOperation"
  | "lineCap"
  | "lineJoin"
  | "lineWidth"
  | "strokeStyle"
  | "beginPath"
  | "moveTo"
  | "lineTo"
  | "stroke"
  | "clearRect"
>;

/** What is painted, in one colour; the eraser takes it away. */
export function draw(surface: Surface, strokes: readonly Stroke[], { width, height }: Size): void {
  surface.globalCompositeOperation = "source-over";
  surface.clearRect(0, 0, width, height);
  for (const { points, size, erases } of strokes) {
    const [first] = points;
    if (first === undefined) continue;
    surface.globalCompositeOperation = erases ? "destination-out" : "source-over";
    surface.lineCap = "round";
    surface.lineJoin = "round";
    surface.lineWidth = size;
    surface.strokeStyle = "#d02090";
    surface.beginPath();
    surface.moveTo(first.x, first.y);
    // A dot is a line that goes nowhere.
    for (const { x, y } of points.length === 1 ? points : points.slice(1)) surface.lineTo(x, y);
    surface.stroke();
  }
}

const half = 128;

/** Turns painted pixels into a mask, in place: alpha 0 where painted, opaque where not, and nothing between. */
export function invert(pixels: Uint8ClampedArray): void {
  for (let at = 0; at < pixels.length; at += 4) {
    const isPainted = pixels[at + 3]! >= half;
    pixels.fill(0, at, at + 3);
    pixels[at + 3] = isPainted ? 0 : 255;
  }
}

/** The mask of a picture as a PNG: what is to change has alpha 0. @throws Error where the browser cannot make one */
export async function maskOf(strokes: readonly Stroke[], size: Size): Promise<Blob> {
  const canvas = new OffscreenCanvas(size.width, size.height);
  const surface = canvas.getContext("2d")!;
  draw(surface, strokes, size);
  const image = surface.getImageData(0, 0, size.width, size.height);
  invert(image.data);
  surface.putImageData(image, 0, 0);
  return canvas.convertToBlob({ type: "image/png" });
}
