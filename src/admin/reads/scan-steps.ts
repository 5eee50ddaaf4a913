/** In which parts of time, as bounds of ids, a page of the log is looked for. docs/management.md. */
import { dayMs, minuteMs } from "../../base/durations.ts";
import { idMs, idTime } from "../../base/ids.ts";

const randomCharacters = 16;
/** Behind the part of every id that follows its prefix. */
export const newest = "z".repeat(10 + randomCharacters);

const shape = /^[a-z]{1,10}_([0-9a-z]{26})$/;

/** An id without its prefix; undefined for what is no id. */
export const partOf = (id: string): string | undefined => shape.exec(id)?.[1];

/**
 * A page is looked for in the nearest day first, then in so many, and in all of them where they have too few: of each workspace that
 * is seen each part of the log between is looked at, though most have nothing there.
 */
export const nearMs = [1, 8].map((days) => days * dayMs);

/** Where each of the near times before `high` begins, if not before `low`; `low` itself last. */
export function nearLows({ low, high }: { readonly low: string; readonly high: string }): string[] {
  const end = (high === newest ? Date.now() : idMs(high)) ?? 0;
  const near = nearMs.map((ms) => idTime(Math.max(0, end - ms)));
  return [...near.filter((one) => one > low), low];
}

/** The length of each step, back from where the one before it ended; the next one goes to the end. */
const stepsMs = [5, 40, 320, 2_560, 20_480].map((minutes) => minutes * minuteMs);
/** No step but a page's second one is begun after so long; the last one may take several times as long. */
export const scanMsMax = 500;
/** Before it there is nothing. */
const earliestMs = Date.UTC(2020);

/** Parts of ids: from `low` on, before `high`. */
interface Span {
  readonly low: string;
  readonly high: string;
}

interface Step extends Span {
  /** Which of the lengths it has. */
  readonly at: number;
}

/**
 * How far back a page with rare conditions looks where somebody sees many workspaces: step by step, until it is full or has taken its time.
 * How many rows there are in a time is not known before they are read. From `high`, or from now where it is of no time, down to `low`;
 * the first one has the length `first`.
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

/** With which length the next page begins, after a page whose last step took so long: with that one, which is not its last. */
export const nextFirst = ({ at }: Step, tookMs: number): number =>
  tookMs > 4 * scanMsMax ? Math.max(at - 2, 0) : at;

/** The part that a page's cursor has which ended with a step: of no id, and with the length that the next page begins with. */
export const endPart = ({ low }: Step, first: number): string => `${low}${unused}${first}`;

/** The length that the next page begins with. */
export const firstOf = (part: string): number =>
  part.slice(10, -1) === unused ? Math.min(Number(part.at(-1)) || 0, stepsMs.length) : 0;
