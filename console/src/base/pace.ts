/** Projects spending at its pace so far. It assumes an even pace, and the pages call it a guess. Pure. */
import { dayMs } from "./durations.ts";
import { monthBefore } from "./period.ts";
import { readStart } from "./steps.ts";

interface Going {
  /** Nano-USD. */
  readonly spent: bigint;
  readonly begin: Date;
  readonly now: Date;
}

/** The elapsed time in ms; undefined on the first day, which is too short to project from. */
function elapsedMs({ begin, now }: Going): bigint | undefined {
  const ms = now.getTime() - begin.getTime();
  return ms < dayMs ? undefined : BigInt(ms);
}

/** The projected spend at `end`, in nano-USD; undefined if it is too early to say, or `end` is past. */
export function spentBy(end: Date, going: Going): bigint | undefined {
  const ms = elapsedMs(going);
  if (ms === undefined || end <= going.now) return undefined;
  return (going.spent * BigInt(end.getTime() - going.begin.getTime())) / ms;
}

/** When the spend reaches `limit`, in nano-USD; undefined if it is too early to say, already reached, or never. */
export function reaches(limit: bigint, going: Going): Date | undefined {
  const ms = elapsedMs(going);
  if (ms === undefined || going.spent <= 0n || going.spent >= limit) return undefined;
  const at = BigInt(going.begin.getTime()) + (limit * ms) / going.spent;
  // The largest time that a Date can hold.
  return at < 8_640_000_000_000_000n ? new Date(Number(at)) : undefined;
}

/** "at this pace reached on 27 Nov (UTC)", for a weekly or monthly cap that would be reached before it resets. */
export function paceOf(
  { window, resetsAt }: { readonly window: string; readonly resetsAt: string | undefined },
  amounts: { readonly spent: bigint; readonly cap: bigint },
  now: Date,
): string | undefined {
  if (resetsAt === undefined || (window !== "weekly" && window !== "monthly")) return undefined;
  const end = new Date(resetsAt);
  const begin = window === "weekly" ? new Date(end.getTime() - 7 * dayMs) : monthBefore(end);
  const at = reaches(amounts.cap, { spent: amounts.spent, begin, now });
  return at === undefined || at >= end
    ? undefined
    : `at this pace reached on ${readStart(at.toISOString(), "day")} (UTC)`;
}
