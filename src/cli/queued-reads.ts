/** Rereads of something in the database that notifications announce. A failed read is retried, because its notification comes only once. */
import { minuteMs } from "../base/durations.ts";
import type { Log } from "../base/log.ts";
import { throttleCounter } from "../base/throttle-counter.ts";

/** Bounds of the retry interval. */
const retryMsMin = 500;
const retryMsMax = 30_000;

interface QueuedReads {
  /** Reads for the first time. @throws what the read throws */
  readonly first: () => Promise<void>;
  /** Queues one more read. Resolves when it is done, or has failed and is to be retried. */
  readonly again: () => Promise<void>;
  readonly close: () => void;
}

/** Reads run one after the other, and the last one counts. `failure` is the log message for failed reads, once a minute at most. */
export function queuedReads(
  read: () => Promise<void>,
  log: Pick<Log, "warn">,
  failure: string,
): QueuedReads {
  const failures = throttleCounter(minuteMs);
  let turn = Promise.resolve();
  let retryMs = retryMsMin;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const attempt = async (): Promise<void> => {
    try {
      await read();
      retryMs = retryMsMin;
    } catch (error) {
      if (closed) return;
      if (failures() !== undefined) log.warn({ err: error }, failure);
      clearTimeout(timer);
      timer = setTimeout(() => void again(), retryMs).unref();
      retryMs = Math.min(retryMs * 2, retryMsMax);
    }
  };
  const again = (): Promise<void> => (turn = turn.then(attempt));
  return {
    first() {
      const reading = turn.then(read);
      turn = reading.catch(() => undefined);
      return reading;
    },
    again,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
