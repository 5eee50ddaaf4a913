/** A mask as its strokes: it is redrawn from the first one, so undo drops a stroke. Pure. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** In pixels of the image. */
export interface Stroke {
  readonly points: readonly Point[];
  readonly size: number;
  readonly erases: boolean;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Adds a point to the last stroke. */
export const extended = (strokes: readonly Stroke[], point: Point): Stroke[] => {
  const last = strokes.at(-1);
  if (last === undefined) return [];
  return [...strokes.slice(0, -1), { ...last, points: [...last.points, point] }];
};

/** Clamps a point to the image. */
export const within = ({ x, y }: Point, { width, height }: Size): Point => ({
  x: Math.min(Math.max(x, 0), width),
  y: Math.min(Math.max(y, 0), height),
});

/** The part of a canvas context that is used. */
interface Surface {
  globalCompositeOperation: string;
  lineCap: string;
  lineJoin: string;
  lineWidth: number;
  strokeStyle: unknown;
  beginPath(): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  stroke(): void;
  clearRect(x: number, y: number, width: number, height: number): void;
}

/** Draws the strokes in one colour; the eraser removes paint. */
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
    // A dot is a line back to its start.
    for (const { x, y } of points.length === 1 ? points : points.slice(1)) surface.lineTo(x, y);
    surface.stroke();
  }
}

const half = 128;

/** Converts painted pixels to a mask, in place: alpha 0 if painted, otherwise opaque. */
export function invert(pixels: Uint8ClampedArray): void {
  for (let at = 0; at < pixels.length; at += 4) {
    const isPainted = pixels[at + 3]! >= half;
    pixels.fill(0, at, at + 3);
    pixels[at + 3] = isPainted ? 0 : 255;
  }
}
