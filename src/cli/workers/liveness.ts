/**
 * Ends workers that hang, by an endless loop or a stopped process. A hanging worker keeps its socket: connections that the system gives
 * it wait forever, while the other workers look fine. It is killed, and restarted like one that died. docs/operate.md "Workers".
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../base/log.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** How long a worker may hang. */
export interface LivenessLimits {
  /** Milliseconds between questions, and the time limit for each answer. */
  readonly everyMs: number;
  /** Number of consecutive unanswered questions after which a worker is killed. */
  readonly missedMax: number;
}

/** A minute: by then the leases of its calls have expired. */
const limitsDefault: LivenessLimits = { everyMs: 10_000, missedMax: 6 };

type WatchedWorker = Pick<WorkerProcess, "number" | "ask" | "kill" | "ended">;

/** Questions a ready worker until it has ended. If this process hangs too, no question counts as missed. */
export async function watchLiveness(
  worker: WatchedWorker,
  log: Pick<Log, "error">,
  { everyMs, missedMax }: LivenessLimits = limitsDefault,
): Promise<void> {
  const over = new AbortController();
  void worker.ended.then(() => over.abort());
  for (let missed = 0; missed < missedMax;) {
    // The worker may end while the question is still open.
    const pause = sleep(everyMs, undefined, { signal: over.signal, ref: false }).catch(
      () => undefined,
    );
    const answer = await worker.ask("ready", everyMs);
    await pause;
    if (over.signal.aborted) return;
    missed = answer === undefined ? missed + 1 : 0;
  }
  const seconds = Math.round((everyMs * missedMax) / 1_000);
  log.error({ worker: worker.number, seconds }, "a worker stands still; it is ended");
  worker.kill();
}
