/**
 * Says in the log that the clocks of the database and of this machine differ, what goes wrong by it, and what helps; again each hour while
 * they do, and once when they agree. docs/operate.md "Clocks".
 */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";

const lookEveryMs = 10_000;
const sayEveryMs = 3_600_000;
/** Whoever checks signatures allows minutes; less than this no caller notices. */
const skewMsMax = 30_000;
/** The database's clock is asked every ten seconds: what is seen once may be a jump that it has not seen. */
const looksMin = 3;

const fix =
  "set both machines' clocks by NTP: expiries, days of caps and the signatures of callbacks go by the database's, the request log by this machine's";

interface ClockWatch {
  /** The database's, and this machine's. */
  readonly sharedClock: Clock;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
  readonly everyMs?: number;
}

/** How many seconds the database's clock is ahead of this machine's. */
export const clockAheadSeconds = ({
  sharedClock,
  clock,
}: Pick<ClockWatch, "sharedClock" | "clock">): number => (sharedClock.now() - clock.now()) / 1_000;

/** Begins to look; the returned function ends it. */
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
