/** What a spend comes to at its pace so far: even through its time, which is a guess and called so. Pure. */
import { dayMs } from "./durations.ts";
import { monthBefore } from "./period.ts";
import { readStart } from "./steps.ts";

interface Going {
  /** Nano-USD. */
  readonly spent: bigint;
  readonly begin: Date;
  readonly now: Date;
}

/** How long it went on, in ms; undefined on its first day, which says nothing yet. */
function elapsedMs({ begin, now }: Going): bigint | undefined {
  const ms = now.getTime() - begin.getTime();
  return ms < dayMs ? undefined : BigInt(ms);
}

/** What it comes to by `end`, in nano-USD; undefined where that is too early to say, or over. */
export function spentBy(end: Date, going: Going): bigint | undefined {
  const ms = elapsedMs(going);
  if (ms === undefined || end <= going.now) return undefined;
  return (going.spent * BigInt(end.getTime() - going.begin.getTime())) / ms;
}

/** When it has come to `limit`, in nano-USD; undefined where that is too early to say, past, or never. */
export function reaches(limit: bigint, going: Going): Date | undefined {
  const ms = elapsedMs(going);
  if (ms === undefined || going.spent <= 0n || going.spent >= limit) return undefined;
  const at = BigInt(going.begin.getTime()) + (limit * ms) / going.spent;
  // Beyond what a date can say.
  return at < 8_640_000_000_000_000n ? new Date(Number(at)) : undefined;
}

/** "at this pace reached on 27 Nov (UTC)", of a weekly or monthly cap that would be reached before it begins anew. */
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
