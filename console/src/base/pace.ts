/** Projects spending at its pace so far. It assumes an even pace, and the pages call it a guess. Pure. */
import { dayMs } from "./durations.ts";
import { monthBefore } from "./period.ts";
import { readStart } from "./steps.ts";

interface Spending {
  /** Nano-USD. */
  readonly spent: bigint;
  readonly begin: Date;
  readonly now: Date;
}

/** The elapsed time in ms; undefined on the first day, which is too short to project from. */
function elapsedMs({ begin, now }: Spending): bigint | undefined {
  const ms = now.getTime() - begin.getTime();
  return ms < dayMs ? undefined : BigInt(ms);
}

/** The projected spend at `end`, in nano-USD; undefined if it is too early to say, or `end` is past. */
export function projectedSpend(end: Date, spending: Spending): bigint | undefined {
  const ms = elapsedMs(spending);
  if (ms === undefined || end <= spending.now) return undefined;
  return (spending.spent * BigInt(end.getTime() - spending.begin.getTime())) / ms;
}

/** When the spend reaches `limit`, in nano-USD; undefined if it is too early to say, already reached, or never. */
export function reaches(limit: bigint, spending: Spending): Date | undefined {
  const ms = elapsedMs(spending);
  if (ms === undefined || spending.spent <= 0n || spending.spent >= limit) return undefined;
  const at = BigInt(spending.begin.getTime()) + (limit * ms) / spending.spent;
  // The largest time that a Date can hold.
  return at < 8_640_000_000_000_000n ? new Date(Number(at)) : undefined;
}

/** "at this rate reached on 27 Nov (UTC)", for a weekly or monthly cap that would be reached before it resets. */
export function paceText(
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
    : `at this rate reached on ${readStart(at.toISOString(), "day")} (UTC)`;
}
