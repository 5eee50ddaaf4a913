/** A spend cap as a bar: what was spent of it, what is left, when it begins anew. Never by colour alone. */
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
  /** RFC 3339; undefined for a cap that never begins anew. */
  readonly resetsAt?: string | undefined;
}

/** From here on a cap is near. */
const near = 80;

/** What is left and until when, in words. */
function left({ cap, remaining, resetsAt }: Cap, percent: number): string {
  if (cap === null) return "no cap";
  const until = resetsAt === undefined ? "" : `, resets ${readUntil(new Date(resetsAt))}`;
  if (percent >= 100) return `reached${until}`;
  return `${readUsd(parseUsd(remaining ?? "0"))} left${until}`;
}

/** `label` names the cap to those who listen, such as "Spend today". */
export function CapBar(props: Cap & { readonly label: string; readonly short?: boolean }) {
  const { cap, spent, label, short } = props;
  const percent = cap === null ? 0 : shareOf(parseUsd(spent), parseUsd(cap));
  const state = percent >= 100 ? "reached" : percent >= near ? "near" : "free";
  const words = left(props, percent);
  return (
    <div className={classes["cap"]}>
      <div className={classes["line"]}>
        <span>
          <Money amount={spent} />
          {cap !== null && (
            <>
              {" / "}
              <Money amount={cap} />
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
        </Progress.Root>
      )}
    </div>
  );
}
