/**
 * A result that cannot be fetched or stored now: since when, and after how many tries. Fetching and storing are counted separately,
 * because one says nothing about the other. The last attempt records it, where an operator sees it. docs/tasks.md.
 */
import type { JobChange } from "./lease.ts";
import type { Job } from "./rows.ts";

export type ResultTrouble = "not_fetched" | "not_stored";

const other = { not_fetched: "not_stored", not_stored: "not_fetched" } as const;

export interface TroubleSoFar {
  readonly sinceMs: number;
  /** Including the one in flight. */
  readonly tries: number;
}

/** The start and the tries of a trouble that is met now. Without misses `missingSince` is the time of the first try. */
export function troubleSoFar(
  { attempts, misses, missingSince }: Job,
  trouble: ResultTrouble,
  nowMs: number,
): TroubleSoFar {
  const last = attempts.at(-1);
  const isKnown = misses === 0 && last?.outcome !== other[trouble];
  const tries = last?.outcome === trouble ? (last.tries ?? 0) : 0;
  return { sinceMs: (isKnown ? missingSince?.getTime() : undefined) ?? nowMs, tries: 1 + tries };
}

/** The columns that record it. */
export function writtenTrouble(
  { attempts }: Job,
  trouble: ResultTrouble,
  { sinceMs, tries }: TroubleSoFar,
): JobChange {
  const noted = attempts.map((attempt, at) =>
    at === attempts.length - 1 ? { ...attempt, outcome: trouble, tries } : attempt,
  );
  return { misses: 0, missing_since: new Date(sinceMs), attempts: JSON.stringify(noted) };
}
