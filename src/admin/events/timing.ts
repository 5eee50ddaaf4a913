/** How often streams of events look for what is new, and what they bound. */
import type { NoticePace } from "./notices.ts";

export interface Timing {
  readonly pollMs: number;
  /** How often it is looked whether a reader may still read. */
  readonly checkMs: number;
  readonly keepAliveMs: number;
  readonly usageMs: number;
  readonly noticeMs: NoticePace;
  /** Streams at once. */
  readonly streamsMax: number;
  /** Of these, one person's: nobody takes the others' away. */
  readonly personStreamsMax: number;
  /** Rows of one kind that a reader gets at once; of more there is only the number. */
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
