/** The used share of each spend cap of a key or a workspace. */
import { windowNames, windows } from "../base/caps.ts";
import { CapBar } from "./cap-bar.tsx";

type Of<Value> = Readonly<Record<(typeof windows)[number], Value>>;

interface SpendBarsProps {
  readonly of: {
    readonly spend_caps: Of<string | null>;
    readonly spend: Of<string>;
    readonly remaining: Of<string | null>;
    readonly resets_at: Readonly<Record<"daily" | "weekly" | "monthly", string>>;
  };
  /** Percentages at which the workspace is alerted. */
  readonly thresholds: readonly number[] | undefined;
}

export function SpendBars({ of, thresholds }: SpendBarsProps) {
  return windows.map((window) => (
    <div key={window}>
      <span className="muted">{windowNames[window]} (USD)</span>
      <CapBar
        label={`Spend: ${windowNames[window]}`}
        cap={of.spend_caps[window]}
        spent={of.spend[window]}
        remaining={of.remaining[window]}
        thresholds={thresholds}
        resetsAt={window === "total" ? undefined : of.resets_at[window]}
      />
    </div>
  ));
}
