/** When a callback is tried again, and when the gateway gives it up. Requirements: HOOK; docs/decisions.md "Callback". */
import { hourMs, minuteMs } from "../../base/durations.ts";
import { testType } from "./events.ts";

const secondMs = 1000;

/** Milliseconds of pause after each failed try; there is one try more than there are pauses. */
export const pausesMs: readonly number[] = [
  5 * secondMs,
  minuteMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  10 * hourMs,
];

/** The share by which a pause may be longer or shorter, to spread callbacks that failed together. */
const jitter = 0.2;

/** The outcome of one try. */
export interface Outcome {
  /** The receiver's status; null if there was no answer. */
  readonly httpStatus: number | null;
  /** Why there was no answer; null if there was one. */
  readonly error: string | null;
  /** False if another try cannot end differently. */
  readonly retry: boolean;
  /** Milliseconds for which the receiver asks to be left alone. Absent: it names no time. */
  readonly retryAfterMs?: number | undefined;
}

/** The next state of the delivery. */
export type NextStep =
  | { readonly status: "delivered" | "failed" }
  | { readonly status: "pending"; readonly pauseMs: number };

const goneStatus = 410;
/** The longest pause that a receiver can ask for, in milliseconds: one answer must not postpone an event for days. */
const retryAfterMsMax = hourMs;

/**
 * Decides after a try: any 2xx delivers the event; 410 and the last failure give it up; a test event is tried once.
 * `failures` counts this one and those before it since the schedule began; `random` is from 0 to 1.
 */
export function nextStep(
  outcome: Outcome,
  type: string,
  failures: number,
  random: number,
): NextStep {
  const { httpStatus } = outcome;
  if (httpStatus !== null && httpStatus >= 200 && httpStatus < 300) return { status: "delivered" };
  const pauseMs = pausesMs[failures - 1];
  const isFinal = !outcome.retry || httpStatus === goneStatus || type === testType;
  if (isFinal || pauseMs === undefined) return { status: "failed" };
  const usualMs = pauseMs * (1 + jitter * (2 * random - 1));
  // Never sooner than the receiver asks for, but still spread.
  const askedMs = Math.min(outcome.retryAfterMs ?? 0, retryAfterMsMax) * (1 + jitter * random);
  return { status: "pending", pauseMs: Math.round(Math.max(usualMs, askedMs)) };
}
