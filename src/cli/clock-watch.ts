/**
 * Logs that the clocks of the database and of this machine differ, with the consequences and the fix. Repeats it each hour, and logs
 * once when they agree again. docs/operate.md "Clocks".
 */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";

const lookEveryMs = 10_000;
const sayEveryMs = 3_600_000;
/** Skew that is tolerated. Receivers of signatures allow minutes; callers do not notice less than this. */
const skewMsMax = 30_000;
/** The database's clock is queried only every ten seconds, so a single difference may be a jump that the last query missed. */
const looksMin = 3;

const fix =
  "set both machines' clocks by NTP: expiries, days of caps, the request log and the signatures of callbacks go by the database's";

interface ClockWatch {
  /** `sharedClock` is the database's, `clock` this machine's. */
  readonly sharedClock: Clock;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
  readonly everyMs?: number;
}

/** Seconds by which the database's clock is ahead of this machine's. */
export const clockAheadSeconds = ({
  sharedClock,
  clock,
}: Pick<ClockWatch, "sharedClock" | "clock">): number => (sharedClock.now() - clock.now()) / 1_000;

/** Starts the checks; the returned function ends them. */
export function watchClocks(watch: ClockWatch): () => void {
  const { log, everyMs = lookEveryMs } = watch;
  let looks = 0;
  let saidMs = -Infinity;
  const look = (): void => {
    const seconds = Math.round(clockAheadSeconds(watch));
    if (Math.abs(seconds) * 1_000 <= skewMsMax) {
      if (saidMs > -Infinity) log.info({}, "the clocks of the database and of this machine agree");
      [looks, saidMs] = [0, -Infinity];
      return;
    }
    looks += 1;
    const nowMs = performance.now();
    if (looks < looksMin || nowMs - saidMs < sayEveryMs) return;
    saidMs = nowMs;
    log.warn(
      { database_ahead_seconds: seconds, fix },
      "the database's clock is another than this machine's",
    );
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
