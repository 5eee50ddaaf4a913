/** A mask as the strokes that make it: drawn again from the first one, so that undo is to leave one out. Pure. */

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

/** What of a canvas is used. */
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
