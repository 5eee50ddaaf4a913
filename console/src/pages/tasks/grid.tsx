/**
 * The gallery: as many columns as fit, and only visible rows are rendered. Arrows move between tasks, Enter opens one, Space plays its
 * video.
 */
import { useElementSize } from "@mantine/hooks";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import type { KeyboardEvent, WheelEvent } from "react";
import { More } from "../../ui/more.tsx";
import { useNextSoon, type NextPage } from "../../ui/pages.ts";
import { useIsPrinting } from "../../ui/use-is-printing.ts";
import { useToday } from "../../ui/use-today.ts";
import { Card } from "./card.tsx";
import type { Task } from "./filters.ts";
import classes from "./tasks.module.css";

const cardWidth = 220;
const rowHeight = 280;
const columnsMin = 2;
const overscan = 2;

interface GridProps {
  readonly tasks: readonly Task[];
  readonly next: NextPage;
}

const steps: Readonly<Record<string, (columns: number) => number>> = {
  ArrowLeft: () => -1,
  ArrowRight: () => 1,
  ArrowUp: (columns) => -columns,
  ArrowDown: (columns) => columns,
};

/** Moves the focus, or plays the video in the focused card. */
function onKey(event: KeyboardEvent<HTMLElement>, columns: number) {
  const link = (event.target as HTMLElement).closest<HTMLElement>("[data-task]");
  if (link === null) return;
  const step = steps[event.key];
  if (step !== undefined) {
    const links = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-task]")];
    links[links.indexOf(link) + step(columns)]?.focus();
  } else if (event.key === " ") {
    const video = link.closest("article")?.querySelector("video");
    if (video?.paused === true) void video.play();
    else video?.pause();
  } else return;
  event.preventDefault();
}

/** Videos use the wheel for their volume: the page would not scroll, and the video would get louder. */
const keepWheel = (event: WheelEvent<HTMLElement>): void => event.stopPropagation();

// oxlint-disable react/incompatible-library -- the virtual list tells this component itself when it has moved
export function Grid({ tasks, next }: GridProps) {
  const now = useToday();
  const { ref, width } = useElementSize<HTMLElement>();
  const columns = Math.max(columnsMin, Math.floor(width / cardWidth));
  const count = Math.ceil(tasks.length / columns);
  const isPrinting = useIsPrinting();
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => rowHeight,
    overscan: isPrinting ? count : overscan,
  });
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1);
  const nearEnd = last !== undefined && last.index >= count - overscan;
  useNextSoon(next, nearEnd && !isPrinting);
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys of the links within */}
      <section
        ref={ref}
        aria-label="Gallery"
        onKeyDown={(event) => onKey(event, columns)}
        onWheelCapture={keepWheel}
        style={{ paddingTop: rows[0]?.start ?? 0 }}
      >
        {rows.map(({ index, key }) => (
          <div
            key={key}
            className={classes["row"]}
            style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
          >
            {tasks.slice(index * columns, (index + 1) * columns).map((task) => (
              <Card key={task.id} task={task} now={now} />
            ))}
          </div>
        ))}
        <div style={{ height: virtual.getTotalSize() - (last?.end ?? 0) }} />
      </section>
      <More next={next} size="xs" />
    </>
  );
}
