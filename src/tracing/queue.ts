/**
 * The queue of spans for the collector: bounded, with few exports in flight, and no call waits for it. Spans that find the queue full
 * are dropped and counted, and so are spans that the collector refuses.
 */
import { throttleCounter } from "../base/throttle-counter.ts";
import type { Log } from "../base/log.ts";
import type { SpanBatch, SpanWriter } from "./serializer.ts";
import type { SampledSpan } from "./spans.ts";

/** Limits of the queue and of exports. */
export interface QueueLimits {
  /** The most spans that may wait. */
  readonly waitingMax: number;
  /** The most spans of one export. */
  readonly batchMax: number;
  /** The longest time, in ms, that a span waits for others. */
  readonly delayMs: number;
}

/** The collector's answer to a batch: code 0 on success. It may refuse some of the spans nevertheless. */
export interface ExportResult {
  readonly code: number;
  readonly error?: Error;
  readonly refused?: { readonly spans: number; readonly reason: string } | undefined;
}

/** Sends a batch to the collector; calls `done` once. */
export interface Exporter {
  export(batch: SpanBatch, done: (result: ExportResult) => void): void;
}

/** The numbers of spans by result. */
export interface SpanCounts {
  readonly sent: number;
  readonly dropped: number;
  readonly refused: number;
}

/** The most exports in flight, which a slow collector cannot exceed. */
const exportsMax = 2;
const warnedEveryMs = 60_000;
const reasonMax = 200;

export class SpanQueue {
  readonly #exporter: Exporter;
  readonly #writer: SpanWriter;
  readonly #limits: QueueLimits;
  readonly #log: Pick<Log, "warn">;
  /** Full batches; the writer has the remaining spans. */
  #full: SpanBatch[] = [];
  #timer: NodeJS.Timeout | undefined;
  #soon = false;
  readonly #exports = new Set<Promise<void>>();
  readonly #unwarned = throttleCounter(warnedEveryMs);
  #closed = false;
  readonly #counts = { sent: 0, dropped: 0, refused: 0 };

  constructor(exporter: Exporter, writer: SpanWriter, limits: QueueLimits, log: Pick<Log, "warn">) {
    this.#exporter = exporter;
    this.#writer = writer;
    this.#limits = limits;
    this.#log = log;
  }

  get counts(): SpanCounts {
    return this.#counts;
  }

  /** The number of waiting spans. */
  get #waiting(): number {
    return this.#full.reduce((sum, { count }) => sum + count, this.#writer.count);
  }

  add(span: SampledSpan): void {
    const { waitingMax, batchMax } = this.#limits;
    if (this.#closed || this.#waiting >= waitingMax) {
      this.#counts.dropped += 1;
      return;
    }
    this.#writer.add(span);
    if (this.#writer.count >= batchMax) this.#full.push(this.#writer.take());
    this.#flushInTime();
  }

  #flushInTime(): void {
    if (this.#full.length > 0) this.#flushSoon();
    else if (this.#writer.count > 0)
      this.#timer ??= setTimeout(() => this.#flush(), this.#limits.delayMs).unref();
  }

  /** Deferred with setImmediate, so that it does not delay a call that has just ended. */
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
    if (this.#waiting === 0 || this.#exports.size >= exportsMax) return;
    const sent = this.#send(this.#full.shift() ?? this.#writer.take()).finally(() => {
      this.#exports.delete(sent);
      this.#flushInTime();
    });
    this.#exports.add(sent);
  }

  /** Never rejects. */
  async #send(batch: SpanBatch): Promise<void> {
    try {
      const { code, error, refused } = await new Promise<ExportResult>((resolve) =>
        this.#exporter.export(batch, resolve),
      );
      if (code !== 0) throw error ?? new Error("no reason was given");
      const spans = Math.min(refused?.spans ?? 0, batch.count);
      this.#counts.sent += batch.count - spans;
      if (refused !== undefined) this.#refused(refused.reason, spans);
    } catch (error) {
      this.#refused((error as Error).message, batch.count);
    }
  }

  #refused(why: string, spans: number): void {
    this.#counts.refused += spans;
    if (this.#unwarned() === undefined) return;
    const reason = why.slice(0, reasonMax);
    this.#log.warn({ spans, reason }, "the collector did not take spans; they are dropped");
  }

  /** Sends waiting spans for at most `ms` milliseconds; later spans are dropped. */
  async close(ms: number): Promise<void> {
    this.#closed = true;
    const all = async (): Promise<void> => {
      while (this.#waiting > 0 || this.#exports.size > 0) {
        this.#flush();
        await Promise.race(this.#exports);
      }
    };
    let late: NodeJS.Timeout | undefined;
    await Promise.race([all(), new Promise((resume) => (late = setTimeout(resume, ms)))]);
    clearTimeout(late);
    this.#counts.dropped += this.#waiting;
    this.#full = [];
    this.#writer.take();
    clearTimeout(this.#timer);
  }
}
