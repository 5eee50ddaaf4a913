/** Intervals and limits of event streams. */
import type { NoticePace } from "./notices.ts";

export interface Timing {
  readonly pollMs: number;
  /** Interval at which each reader's rights are checked again. */
  readonly checkMs: number;
  readonly keepAliveMs: number;
  readonly usageMs: number;
  readonly noticeMs: NoticePace;
  /** Concurrent streams. */
  readonly streamsMax: number;
  /** Concurrent streams of one user, so that no user takes all of them. */
  readonly personStreamsMax: number;
  /** Rows of one kind that a reader gets at once; beyond that it gets only their number. */
  readonly rowsMax: number;
}

export const timingDefault: Timing = {
  pollMs: 1_000,
  checkMs: 60_000,
  keepAliveMs: 15_000,
  usageMs: 5_000,
  noticeMs: { providers: 5_000, gateways: 5_000, verification: 1_000 },
  streamsMax: 100,
  personStreamsMax: 20,
  rowsMax: 20,
};
