/**
 * Spans on their way to the collector: a bounded queue, a few exports under way, and nothing that a call waits for. What
 * finds the queue full is dropped and counted, and so is what the collector does not take.
 */
import { atIntervals } from "../base/at-intervals.ts";
import type { Log } from "../base/log.ts";
import type { SpanBatch, SpanWriter } from "./serializer.ts";
import type { SentSpan } from "./spans.ts";

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
    batch: SpanBatch,
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
  readonly #writer: SpanWriter;
  readonly #limits: QueueLimits;
  readonly #log: Pick<Log, "warn">;
  /** Batches that are as large as they may be; the writer has the rest. */
  #full: SpanBatch[] = [];
  #timer: NodeJS.Timeout | undefined;
  #soon = false;
  readonly #exports = new Set<Promise<void>>();
  readonly #unwarned = atIntervals(warnedEveryMs);
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

  /** Spans that wait. */
  get #waiting(): number {
    return this.#full.reduce((sum, { count }) => sum + count, this.#writer.count);
  }

  add(span: SentSpan): void {
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
      const { code, error } = await new Promise<{ code: number; error?: Error }>((resolve) =>
        this.#exporter.export(batch, resolve),
      );
      if (code !== 0) throw error ?? new Error("no reason was given");
      this.#counts.sent += batch.count;
    } catch (error) {
      this.#counts.refused += batch.count;
      this.#warn(error as Error, batch.count);
    }
  }

  #warn({ message }: Error, spans: number): void {
    if (this.#unwarned() === undefined) return;
    const reason = message.slice(0, reasonMax);
    this.#log.warn({ spans, reason }, "the collector did not take spans; they are dropped");
  }

  /** Sends what waits, for as long as `ms`; what comes later is dropped. */
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
