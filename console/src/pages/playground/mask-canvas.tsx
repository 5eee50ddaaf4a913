/**
 * An image with a mask over it, painted by pointer or keyboard (arrows move the brush, holding Space paints). The painted parts may
 * change.
 */
import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { draw, extended, within, type Point, type Size, type Stroke } from "./mask.ts";
import classes from "./playground.module.css";

export interface Brush {
  readonly size: number;
  readonly erases: boolean;
}

interface MaskCanvasProps {
  /** The image's URL. */
  readonly url: string;
  readonly brush: Brush;
  readonly strokes: readonly Stroke[];
  readonly change: (strokes: readonly Stroke[]) => void;
  readonly undo: () => void;
  readonly measured: (size: Size) => void;
}

const moves: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

type Painted = Pick<MaskCanvasProps, "brush" | "strokes" | "change" | "undo"> & {
  readonly size: Size;
};

/** The brush: its position, whether it paints, and its event handlers. */
function useBrush({ brush, strokes, change, undo, size }: Painted) {
  const [cursor, setCursor] = useState<Point>();
  const [isDown, setDown] = useState(false);
  const begin = (point: Point) => {
    setCursor(point);
    setDown(true);
    change([...strokes, { points: [point], ...brush }]);
  };
  const move = (point: Point) => {
    setCursor(point);
    if (isDown) change(extended(strokes, point));
  };
  const pointOf = ({ clientX, clientY, currentTarget }: PointerEvent): Point => {
    const box = currentTarget.getBoundingClientRect();
    const scale = size.width / box.width;
    return within({ x: (clientX - box.left) * scale, y: (clientY - box.top) * scale }, size);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = cursor ?? { x: size.width / 2, y: size.height / 2 };
    const direction = moves[event.key];
    const isUndo = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey);
    if (direction === undefined && event.key !== " " && !isUndo) return;
    event.preventDefault();
    const step = brush.size / 2;
    if (direction !== undefined)
      move(within({ x: at.x + direction.x * step, y: at.y + direction.y * step }, size));
    else if (isUndo) undo();
    else if (!event.repeat) begin(at);
  };
  const lift = () => setDown(false);
  return {
    cursor,
    handlers: {
      onPointerDown(event: PointerEvent) {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        begin(pointOf(event));
      },
      onPointerMove: (event: PointerEvent) => move(pointOf(event)),
      onPointerUp: lift,
      onKeyDown,
      onKeyUp: ({ key }: KeyboardEvent) => key === " " && lift(),
      onBlur: lift,
    },
  };
}

export function MaskCanvas({ url, measured, ...painted }: MaskCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState<Size>({ width: 1, height: 1 });
  const { brush, strokes } = painted;
  const { cursor, handlers } = useBrush({ ...painted, size });
  useEffect(() => {
    const surface = canvas.current?.getContext("2d");
    if (surface) draw(surface, strokes, size);
  }, [strokes, size]);
  const onLoad = ({ currentTarget }: { currentTarget: HTMLImageElement }) => {
    const loaded = { width: currentTarget.naturalWidth, height: currentTarget.naturalHeight };
    setSize(loaded);
    measured(loaded);
  };
  return (
    <div className={classes["masked"]}>
      <img src={url} alt="To be edited" className={classes["picture"]} onLoad={onLoad} />
      <canvas
        ref={canvas}
        width={size.width}
        height={size.height}
        tabIndex={0}
        // oxlint-disable-next-line jsx-a11y/no-interactive-element-to-noninteractive-role -- it takes keys of its own
        role="application"
        aria-label={`Mask, ${strokes.length} strokes. Arrows move the brush, holding Space paints, Ctrl Z removes the last stroke.`}
        className={classes["mask"]}
        {...handlers}
      />
      {cursor !== undefined && <Ring cursor={cursor} brush={brush} size={size} />}
    </div>
  );
}

/** Shows the position and size of the brush. */
function Ring({ cursor, brush, size }: { cursor: Point; brush: Brush; size: Size }) {
  const percent = (part: number, whole: number) => `${(part / whole) * 100}%`;
  return (
    <div
      aria-hidden
      className={classes["ring"]}
      style={{
        left: percent(cursor.x, size.width),
        top: percent(cursor.y, size.height),
        width: percent(brush.size, size.width),
        aspectRatio: "1",
      }}
    />
  );
}
