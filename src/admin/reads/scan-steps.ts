/** Time steps, as bounds of ids, in which a page of the log is searched. docs/management.md. */
import { dayMs, minuteMs } from "../../base/durations.ts";
import { idMs, idTime } from "../../base/ids.ts";

const randomCharacters = 16;
/** Sorts after every id part that follows a prefix. */
export const maxIdPart = "z".repeat(10 + randomCharacters);

const shape = /^[a-z]{1,10}_([0-9a-z]{26})$/;

/** An id without its prefix; undefined for an invalid id. */
export const idPartOf = (id: string): string | undefined => shape.exec(id)?.[1];

/**
 * A page is searched in the last day first, then in the last 8 days, then in all time, until it is full. A query reads each part of
 * the log in its range for each visible workspace, though most parts hold nothing for it.
 */
export const nearMs = [1, 8].map((days) => days * dayMs);

/** The start of each near time before `high`, if it is after `low`; `low` itself last. */
export function nearLows({ low, high }: { readonly low: string; readonly high: string }): string[] {
  const end = (high === maxIdPart ? Date.now() : idMs(high)) ?? 0;
  const near = nearMs.map((ms) => idTime(Math.max(0, end - ms)));
  return [...near.filter((one) => one > low), low];
}

/** The length of each step, counted back from the end of the one before; a final step goes to the end. */
const stepsMs = [5, 40, 320, 2_560, 20_480].map((minutes) => minutes * minuteMs);
/** Milliseconds after which a page begins no further step, except its second. The last step may take several times as long. */
export const scanMsMax = 500;
/** No rows are older. */
const earliestMs = Date.UTC(2020);

/** Id parts from `low` on, before `high`. */
interface Span {
  readonly low: string;
  readonly high: string;
}

interface Step extends Span {
  /** Index of its length in `stepsMs`. */
  readonly at: number;
}

/**
 * Yields the steps in which a page with rare conditions searches many workspaces, until it is full or out of time. The number of
 * rows in a time is unknown before they are read. Steps go from `high`, or from now if that has no time, down to `low`. The first
 * has the length `first`.
 */
export function* stepsBack({ low, high }: Span, nowMs: number, first: number): Generator<Step> {
  let end = high;
  let endMs = Math.min(idMs(high) ?? nowMs, nowMs);
  for (const [at, ms] of stepsMs.entries()) {
    if (at < first) continue;
    endMs -= ms;
    const begin = idTime(endMs);
    if (begin <= low || endMs < earliestMs) break;
    yield { low: begin, high: end, at };
    end = begin;
  }
  yield { low, high: end, at: stepsMs.length };
}

const unused = "0".repeat(randomCharacters - 1);

/** The index of the step length with which the next page begins: that of the last step, or two less if it took over 2 seconds. */
export const nextFirst = ({ at }: Step, tookMs: number): number =>
  tookMs > 4 * scanMsMax ? Math.max(at - 2, 0) : at;

/** The cursor part of a page that ended after a step. No row has this id; it encodes the step length index of the next page. */
export const endPart = ({ low }: Step, first: number): string => `${low}${unused}${first}`;

/** Reads that step length index from a cursor part; 0 if a row's id is the cursor. */
export const firstOf = (part: string): number =>
  part.slice(10, -1) === unused ? Math.min(Number(part.at(-1)) || 0, stepsMs.length) : 0;
