/**
 * Spans on their way to the collector: a bounded queue, a few exports under way, and nothing that a call waits for. What
 * finds the queue full is dropped and counted, and so is what the collector does not take.
 */
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Log } from "../base/log.ts";

/** How spans wait and leave. */
export interface QueueLimits {
  /** Spans that may wait. */
  readonly waitingMax: number;
  /** Spans of one export. */
  readonly batchMax: number;
  /** How long a span may wait for others. */
  readonly delayMs: number;
}

/** The way to the collector; `done` is called once, with code 0 where it took them. */
export interface Exporter {
  export(
    spans: ReadableSpan[],
    done: (result: { readonly code: number; readonly error?: Error }) => void,
  ): void;
}

/** What became of the spans. */
export interface SpanCounts {
  readonly sent: number;
  readonly dropped: number;
  readonly refused: number;
}

/** A collector that is slow holds this many batches, and no more. */
const exportsMax = 2;
const warnedEveryMs = 60_000;
const reasonMax = 200;

export class SpanQueue {
  readonly #exporter: Exporter;
  readonly #limits: QueueLimits;
  readonly #log: Pick<Log, "warn">;
  #waiting: ReadableSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #soon = false;
  readonly #exports = new Set<Promise<void>>();
  #warnedMs = -Infinity;
  #closed = false;
  readonly #counts = { sent: 0, dropped: 0, refused: 0 };

  constructor(exporter: Exporter, limits: QueueLimits, log: Pick<Log, "warn">) {
    this.#exporter = exporter;
    this.#limits = limits;
    this.#log = log;
  }

  get counts(): SpanCounts {
    return this.#counts;
  }

  add(span: ReadableSpan): void {
    const { waitingMax, batchMax, delayMs } = this.#limits;
    if (this.#closed || this.#waiting.length >= waitingMax) {
      this.#counts.dropped += 1;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= batchMax) this.#flushSoon();
    else this.#timer ??= setTimeout(() => this.#flush(), delayMs).unref();
  }

  /** Not in the turn of a call that has just ended. */
  #flushSoon(): void {
    if (this.#soon || this.#exports.size >= exportsMax) return;
    this.#soon = true;
    setImmediate(() => {
      this.#soon = false;
      this.#flush();
    });
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { batchMax, delayMs } = this.#limits;
    if (this.#waiting.length === 0 || this.#exports.size >= exportsMax) return;
    const batch = this.#waiting;
    this.#waiting = batch.length > batchMax ? batch.splice(batchMax) : [];
    const sent = this.#send(batch).finally(() => {
      this.#exports.delete(sent);
      if (this.#waiting.length >= batchMax) this.#flushSoon();
      else if (this.#waiting.length > 0)
        this.#timer ??= setTimeout(() => this.#flush(), delayMs).unref();
    });
    this.#exports.add(sent);
  }

  /** Never rejects. */
  async #send(batch: ReadableSpan[]): Promise<void> {
    try {
      const { code, error } = await new Promise<{ code: number; error?: Error }>((resolve) =>
        this.#exporter.export(batch, resolve),
      );
      if (code !== 0) throw error ?? new Error("no reason was given");
      this.#counts.sent += batch.length;
    } catch (error) {
      this.#counts.refused += batch.length;
      this.#warn(error as Error, batch.length);
    }
  }

  #warn({ message }: Error, spans: number): void {
    const nowMs = performance.now();
    if (nowMs - this.#warnedMs < warnedEveryMs) return;
    this.#warnedMs = nowMs;
    const reason = message.slice(0, reasonMax);
    this.#log.warn({ spans, reason }, "the collector did not take spans; they are dropped");
  }

  /** Sends what waits, for as long as `ms`; what comes later is dropped. */
  async close(ms: number): Promise<void> {
    this.#closed = true;
    const all = async (): Promise<void> => {
      while (this.#waiting.length > 0 || this.#exports.size > 0) {
        this.#flush();
        await Promise.race(this.#exports);
      }
    };
    let late: NodeJS.Timeout | undefined;
    await Promise.race([all(), new Promise((resume) => (late = setTimeout(resume, ms)))]);
    clearTimeout(late);
    this.#counts.dropped += this.#waiting.length;
    this.#waiting = [];
    clearTimeout(this.#timer);
  }
}
