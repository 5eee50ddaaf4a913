/** What is counted and logged of hooks. */
import { atIntervals } from "../base/at-intervals.ts";
import type { Log } from "../base/log.ts";
import { getOrMake } from "../base/made-once.ts";
import type { HookSettings } from "../catalog/index.ts";
import type { Asker } from "./asker.ts";

/** Hears of each question to a hook, when it is over. */
export type Observe = (hook: HookSettings, outcome: string, durationMs: number) => void;

/** A hook and the way to it. */
export interface OpenHook {
  readonly settings: HookSettings;
  readonly asker: Asker;
}

/** A failure, with those before it that were not written one by one. */
export interface NotedFailure {
  readonly hook: string;
  readonly failures: number;
  readonly why: string;
  readonly call: string;
}

/** Keeps a failure for who looks later. Returns at once; never throws. */
export type Note = (failure: NotedFailure) => void;

export interface Watching {
  readonly observe: Observe;
  readonly failed: FailureLog;
}

/** A hook that is down is logged once in this time, with how often it failed. */
const logEveryMs = 1_000;

export type FailureLog = (hook: HookSettings, error: unknown, call: string) => void;

/** Logs and notes failures of hooks, each hook's at most once a second. */
export function failureLog(log: Log, note: Note): FailureLog {
  const seen = new Map<string, () => number | undefined>();
  return ({ name, at, onFailure }, error, call) => {
    const failures = getOrMake(seen, name, () => atIntervals(logEveryMs))();
    if (failures === undefined) return;
    const why = error instanceof Error ? error.message.slice(0, 300) : "unknown";
    const rule = at === "before" ? { on_failure: onFailure } : {};
    log.warn({ hook: name, call, why, more: failures - 1, ...rule }, "a hook failed");
    note({ hook: name, failures, why, call });
  };
}
