/** A spend cap as a bar: spent, left, and when it resets. Never by colour alone. */
import { Progress } from "@mantine/core";
import { parseUsd, readUsd, shareOf } from "../base/money.ts";
import { readUntil } from "../base/time.ts";
import classes from "./cap-bar.module.css";
import { Money } from "./money.tsx";

export interface Cap {
  /** Decimal USD; null: no cap. */
  readonly cap: string | null;
  readonly spent: string;
  readonly remaining: string | null;
  /** RFC 3339; undefined for a cap that never resets. */
  readonly resetsAt?: string | undefined;
}

/** Used if the workspace's own thresholds are unknown. */
const usual: readonly number[] = [80];

/** The amount left and the reset time, in words. */
function left({ cap, remaining, resetsAt }: Cap, percent: number): string {
  if (cap === null) return "no cap";
  const until = resetsAt === undefined ? "" : `, resets ${readUntil(new Date(resetsAt))}`;
  if (percent >= 100) return `reached${until}`;
  return `${readUsd(parseUsd(remaining ?? "0"))} left${until}`;
}

/** Characters that fit into a column. */
const longMax = 20;
const lengthOf = ({ spent, cap }: Cap): number =>
  [spent, ...(cap === null ? [] : [cap])].map((one) => readUsd(parseUsd(one))).join(" / ").length;

interface CapBarProps extends Cap {
  /** Name of the cap for screen readers, such as "Spend today". */
  readonly label: string;
  /** For a column of amounts: without words, and right-aligned. */
  readonly short?: boolean;
  /** Percentages at which the workspace is alerted, ascending. */
  readonly thresholds?: readonly number[] | undefined;
}

export function CapBar(props: CapBarProps) {
  const { cap, spent, label, short, thresholds = usual } = props;
  const marks = thresholds.filter((one) => one < 100);
  // A cap is near from the last threshold on.
  const near = marks.at(-1) ?? 100;
  const percent = cap === null ? 0 : shareOf(parseUsd(spent), parseUsd(cap));
  const state = percent >= 100 ? "reached" : percent >= near ? "near" : "free";
  const words = left(props, percent);
  const isBrief = short === true && lengthOf(props) > longMax;
  return (
    <div className={classes["cap"]}>
      <div className={`${classes["line"]} ${short === true ? classes["short"] : ""}`}>
        <span>
          <Money amount={spent} brief={isBrief} />
          {cap !== null && (
            <>
              {" / "}
              <Money amount={cap} brief={isBrief} />
            </>
          )}
        </span>
        {short !== true && <span className={percent >= 100 ? "bad" : "muted"}>{words}</span>}
      </div>
      {cap !== null && (
        <Progress.Root size={6} mt={2} className={classes["bar"]} title={words}>
          <Progress.Section
            value={Math.min(percent, 100)}
            aria-label={label}
            aria-valuetext={words}
            className={classes["spent"]}
            data-state={state}
          />
          {marks.map((percentage) => (
            <span
              key={percentage}
              className={classes["mark"]}
              data-threshold={percentage}
              style={{ left: `${percentage}%` }}
            />
          ))}
        </Progress.Root>
      )}
    </div>
  );
}
