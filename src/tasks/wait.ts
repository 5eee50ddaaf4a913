/**
 * Waits in place for a task's end (`Prefer: wait`): an entry in a map, woken by the signal that every end sends. It also
 * reads the database now and then, in case a signal was missed. It holds no worker and no connection. TASK-08, TASK-09.
 */
import type { Signals } from "../storage/index.ts";
import { endedChannel } from "./engine.ts";
import { isTerminal } from "./states.ts";
import type { Task } from "./types.ts";

export interface Waiting {
  /**
   * Resolves when the task may have ended, after `waitMs`, or when `signal` fires. A failed read is repeated: the task
   * has been accepted, and an error would make its caller submit it again.
   */
  until(task: Task, waitMs: number, signal: AbortSignal | undefined): Promise<Task>;
  /** Ends all waits. */
  close(): void;
}

const lookEveryMs = 2_000;

/** Creates waits that are woken by the `signals` of ended tasks; `read` reads a task from the database. */
export function createWaiting(signals: Signals, read: (task: Task) => Promise<Task>): Waiting {
  const wakes = new Map<string, Set<() => void>>();
  const nameOf = (task: Task) => `${task.workspaceId} ${task.id}`;
  const stop = signals.subscribe(endedChannel, (name) => {
    for (const wake of wakes.get(name) ?? []) wake();
  });
  let closed = false;
  const look = (latest: Task) => read(latest).catch(() => latest);

  /** `over` resolves at the next wake, at the latest after `ms`; `wake` ends it now. */
  function waitOrTimeout(task: Task, ms: number, signal: AbortSignal | undefined) {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const name = nameOf(task);
    const set = wakes.get(name) ?? new Set();
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      set.delete(wake);
      if (set.size === 0) wakes.delete(name);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake);
    wakes.set(name, set.add(wake));
    return { over, wake };
  }

  return {
    async until(task, waitMs, signal) {
      const endMs = performance.now() + waitMs;
      let latest = task;
      for (let looks = 0; !isTerminal(latest.status); looks += 1) {
        const leftMs = endMs - performance.now();
        const isOver = leftMs <= 0 || closed || signal?.aborted === true;
        if (isOver) return looks === 0 ? latest : look(latest);
        // Subscribed before the read, so that an end between the two is not missed.
        const { over, wake } = waitOrTimeout(task, Math.min(leftMs, lookEveryMs), signal);
        try {
          latest = await look(latest);
          if (!isTerminal(latest.status)) await over;
        } finally {
          wake();
        }
      }
      return latest;
    },
    close() {
      closed = true;
      stop();
      for (const set of wakes.values()) for (const wake of set) wake();
    },
  };
}
