/** The bar chart of calls above the log, failures at the foot of each bar. A click or drag selects a time range. */
import { Link } from "@tanstack/react-router";
import { useState, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import { api } from "../../api/client.ts";
import { asApiError } from "../../api/errors.ts";
import { gatewayNow } from "../../base/clock.ts";
import { keepPreviousFor } from "../../ui/keep-previous.ts";
import { useRenewal } from "../../ui/use-renewal.ts";
import type { Filters } from "./filters.ts";
import {
  barsOf,
  overviewOf,
  shapeOf,
  spanBetween,
  stripQuery,
  wordsOf,
  type Bar,
  type Shape,
} from "./strip.ts";
import classes from "./strip.module.css";

const high = 48;

/** The marked range: its first and its current step. */
interface Mark {
  readonly one: number;
  readonly other: number;
}

function Drawn({ bars, mark }: { bars: readonly Bar[]; mark: Mark | undefined }) {
  const most = Math.max(1, ...bars.map(({ calls }) => calls));
  const tall = (count: number): number => (count === 0 ? 0 : Math.max(1.5, (count / most) * high));
  return (
    <svg
      width="100%"
      height={high}
      viewBox={`0 0 ${bars.length} ${high}`}
      preserveAspectRatio="none"
      aria-hidden
    >
      {mark !== undefined && (
        <rect
          x={Math.min(mark.one, mark.other)}
          width={Math.abs(mark.one - mark.other) + 1}
          height={high}
          fill="var(--selected)"
        />
      )}
      {bars.map(({ start, calls, failed }, at) => {
        const whole = tall(calls);
        const bad = Math.min(whole, tall(failed));
        const place = { x: at + 0.1, width: 0.8 };
        return (
          <g key={start}>
            <rect {...place} y={high - whole} height={whole - bad} fill="var(--series-3)" />
            <rect {...place} y={high - bad} height={bad} fill="var(--bad)" />
          </g>
        );
      })}
    </svg>
  );
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

/** Marks a range by pointer or arrow keys; Shift extends it, Enter selects it. */
function useMarking(count: number, choose: (mark: Mark) => void) {
  const [mark, setMark] = useState<Mark>();
  const [isDrawn, setIsDrawn] = useState(false);
  const within = (at: number) => Math.min(count - 1, Math.max(0, at));
  const at = ({ currentTarget, clientX }: PointerEvent<HTMLElement>): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return within(Math.floor(((clientX - left) / width) * count));
  };
  const chosen = mark && { one: within(mark.one), other: within(mark.other) };
  const keys = (event: KeyboardEvent) => {
    const by = steps[event.key];
    if (by !== undefined) {
      event.preventDefault();
      const other = within((chosen?.other ?? count) + (chosen === undefined ? -1 : by));
      setMark({ one: event.shiftKey && chosen !== undefined ? chosen.one : other, other });
    } else if (event.key === "Enter" && chosen !== undefined) choose(chosen);
  };
  return {
    mark: chosen,
    on: {
      onKeyDown: keys,
      onBlur: () => setMark(undefined),
      onPointerDown(event: PointerEvent<HTMLElement>) {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setIsDrawn(true);
        setMark({ one: at(event), other: at(event) });
      },
      onPointerMove(event: PointerEvent<HTMLElement>) {
        const other = at(event);
        setMark((before) => ({ one: isDrawn && before ? before.one : other, other }));
      },
      onPointerUp() {
        setIsDrawn(false);
        if (isDrawn && chosen !== undefined) choose(chosen);
      },
      onPointerCancel: () => setIsDrawn(false),
      onPointerLeave: () => !isDrawn && setMark(undefined),
    },
  };
}

interface BarsProps {
  readonly shape: Shape;
  readonly bars: readonly Bar[];
  /** The bars are loading. */
  readonly isWaiting: boolean;
  readonly set: (change: Partial<Filters>) => void;
  /** Shown after the description. */
  readonly children: ReactNode;
}

function Bars({ shape, bars, isWaiting, set, children }: BarsProps) {
  const { mark, on } = useMarking(bars.length, ({ one, other }) =>
    set({ period: undefined, ...spanBetween(shape, one, other) }),
  );
  const last = bars.length - 1;
  const shown = mark ?? { one: 0, other: last };
  const words = isWaiting ? "" : wordsOf(bars, shape.step, shown.one, shown.other);
  return (
    <>
      <div
        className={classes["bars"]}
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an input has one value: here a time has two ends
        role="slider"
        tabIndex={0}
        aria-label={`Calls by ${shape.step}: arrows select a time, Shift extends it, Enter shows it`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={mark?.other ?? last}
        aria-valuetext={words}
        {...on}
      >
        <Drawn bars={bars} mark={mark} />
      </div>
      <div className={classes["words"]}>
        <span>{words}</span> {!isWaiting && children}
      </div>
    </>
  );
}

interface StripProps {
  readonly filters: Filters;
  readonly isLive: boolean;
  readonly set: (change: Partial<Filters>) => void;
}

/** Empty if usage sums cannot express the filters. */
export function Strip({ filters, isLive, set }: StripProps) {
  const [now, setNow] = useState(gatewayNow);
  useRenewal({ topics: ["usage"], enabled: isLive, renew: () => setNow(gatewayNow()) });
  const shape = shapeOf(filters, now);
  const { data, error } = api.useQuery(
    "get",
    "/admin/v1/usage",
    { params: { query: shape === undefined ? {} : stripQuery(filters, shape) } },
    {
      enabled: shape !== undefined,
      staleTime: 30_000,
      ...keepPreviousFor(JSON.stringify(filters)),
    },
  );
  if (shape === undefined) return null;
  const overview = overviewOf(filters, shape);
  return (
    <section className={classes["strip"]} aria-label="Calls over time">
      {error === null ? (
        <Bars
          shape={shape}
          bars={barsOf(data?.data ?? [], shape)}
          isWaiting={data === undefined}
          set={set}
        >
          {overview !== undefined && (
            <Link to="/overview" search={overview}>
              Cost of these calls
            </Link>
          )}
        </Bars>
      ) : (
        <div className={classes["words"]}>
          Calls over time are not shown: {asApiError(error).message}
        </div>
      )}
    </section>
  );
}
