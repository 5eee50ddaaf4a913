/** Metrics and logs of hooks. */
import { throttleCounter } from "../base/throttle-counter.ts";
import type { Log } from "../base/log.ts";
import { getOrCreate } from "../base/memoize.ts";
import type { HookSettings } from "../catalog/index.ts";
import type { HookTransport } from "./transport.ts";

/** Called after each question to a hook, and for each event that is dropped before the hook is asked; that took no time. */
export type Observe = (hook: HookSettings, outcome: string, durationMs?: number) => void;

/** A hook with its asker. */
export interface OpenHook {
  readonly settings: HookSettings;
  readonly transport: HookTransport;
}

/** A failure, with the number of failures since the last one logged. */
export interface NotedFailure {
  readonly hook: string;
  readonly failures: number;
  readonly why: string;
  readonly call: string;
}

/** Stores a failure for later inspection. Returns at once; never throws. */
export type Note = (failure: NotedFailure) => void;

export interface HookObservers {
  readonly observe: Observe;
  readonly failed: FailureLog;
}

/** A failing hook is logged once per interval, with its number of failures. */
const logEveryMs = 1_000;

export type FailureLog = (hook: HookSettings, error: unknown, call: string) => void;

/** Logs and notes failures of hooks, for each hook at most once a second. */
export function failureLog(log: Log, note: Note): FailureLog {
  const seen = new Map<string, () => number | undefined>();
  return ({ name, at, onFailure }, error, call) => {
    const failures = getOrCreate(seen, name, () => throttleCounter(logEveryMs))();
    if (failures === undefined) return;
    const why = error instanceof Error ? error.message.slice(0, 300) : "unknown";
    const rule = at === "before" ? { on_failure: onFailure } : {};
    log.warn({ hook: name, call, why, more: failures - 1, ...rule }, "a hook failed");
    note({ hook: name, failures, why, call });
  };
}
