/**
 * A worker that stands still (a loop without end, a process that somebody stopped) keeps its socket: connections that the system gives it
 * wait for ever, while the others look well. It is ended, and started again as one that died. docs/operate.md "Workers".
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../base/log.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** How long a worker may stand still. */
export interface Patience {
  /** A question each, and as long for its answer. */
  readonly everyMs: number;
  /** So many questions in a row without an answer. */
  readonly missedMax: number;
}

/** A minute: by then the leases of its calls have run out. */
const usual: Patience = { everyMs: 10_000, missedMax: 6 };

type Asked = Pick<WorkerProcess, "number" | "ask" | "kill" | "ended">;

/** Asks a worker that has become ready until it has ended. Where this process stands still too, no question is missed. */
export async function watchAnswers(
  worker: Asked,
  log: Pick<Log, "error">,
  { everyMs, missedMax }: Patience = usual,
): Promise<void> {
  const over = new AbortController();
  void worker.ended.then(() => over.abort());
  for (let missed = 0; missed < missedMax;) {
    // It may be over while the question is still open.
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
