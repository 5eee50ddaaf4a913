/** The load: connections over bare sockets, each sending its next request, or making room for the next one, when its answer is whole. */
import { connect } from "node:net";
import { AnswerReader } from "./answer-reader.ts";

/** What is sent where. */
export interface LoadTarget {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Whole HTTP requests, each in the parts in which it is written; taken in turn by all connections together. */
  readonly requests: readonly (readonly Buffer[])[];
  /** Whether the answers are streams of events. */
  readonly streamed: boolean;
  /** Whether each request has a connection of its own, whose making counts. */
  readonly fresh?: boolean;
}

interface LoadOptions {
  readonly connections: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** Called when counting begins and ends: what happens before and after counts for nothing. */
  readonly onBegin?: () => void;
  readonly onEnd?: () => void;
}

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  /** Of all answers, sorted, in milliseconds. */
  readonly latenciesMs: Float64Array;
  /** Until the first byte of the body, the same. */
  readonly firstMs: Float64Array;
  /** Answers that were not as asked, and connections that broke. */
  readonly failures: number;
}

/** A bit of load before counting begins: at both ends of the counted time calls are under way. */
const leadMs = (seconds: number): number => Math.min(1_000, seconds * 300);
/** Connections open in so many steps of that time: calls that all begin at once would end at once, again and again. */
const openingSteps = 16;
/** A target that hangs must not hang the benchmark. */
const graceMs = 3_000;
const againMs = 50;

/** Drives a target for `seconds` over `connections`. Rejects when the signal fires. */
export async function drive(target: LoadTarget, options: LoadOptions): Promise<LoadResult> {
  options.signal.throwIfAborted();
  const run = new Run(target);
  const abort = (): void => run.end();
  options.signal.addEventListener("abort", abort);
  try {
    for (let step = 1; step <= openingSteps; step += 1) {
      run.openUpTo(Math.ceil((options.connections * step) / openingSteps));
      await sleep(leadMs(options.seconds) / openingSteps, options.signal);
    }
    run.counting = true;
    options.onBegin?.();
    const began = performance.now();
    await sleep(options.seconds * 1000, options.signal);
    run.counting = false;
    const seconds = (performance.now() - began) / 1000;
    options.onEnd?.();
    run.stopping = true;
    const late = setTimeout(abort, graceMs);
    await run.over;
    clearTimeout(late);
    options.signal.throwIfAborted();
    return {
      answers: run.latencies.length,
      seconds,
      latenciesMs: Float64Array.from(run.latencies).sort(),
      firstMs: Float64Array.from(run.firsts).sort(),
      failures: run.failures,
    };
  } finally {
    options.signal.removeEventListener("abort", abort);
    run.end();
  }
}

/** Resolves early when the signal fires: whoever waits looks at it. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, signal.aborted ? 0 : ms);
    signal.addEventListener("abort", done);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}

class Run {
  readonly latencies: number[] = [];
  readonly firsts: number[] = [];
  failures = 0;
  counting = false;
  stopping = false;
  readonly over: Promise<void>;
  #resolve!: () => void;
  readonly #target: LoadTarget;
  readonly #host: string;
  readonly #port: number;
  readonly #closers = new Set<() => void>();
  #next = 0;

  constructor(target: LoadTarget) {
    this.#target = target;
    const { hostname, port } = new URL(target.url);
    this.#host = hostname.replace(/^\[|\]$/g, "");
    this.#port = Number(port) || 80;
    this.over = new Promise((resolve) => (this.#resolve = resolve));
  }

  /** Opens connections until there are so many. */
  openUpTo(count: number): void {
    while (this.#closers.size < count && !this.stopping) this.#open();
  }

  /** One connection, and another in its place should it break. */
  #open(): void {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
    const fresh = this.#target.fresh === true;
    let sentMs = performance.now();
    let firstMs = 0;
    let isDone = false;
    const send = (): void => {
      const parts = this.#target.requests[this.#next]!;
      this.#next = (this.#next + 1) % this.#target.requests.length;
      if (!fresh) sentMs = performance.now();
      if (parts.length > 1) socket.cork();
      for (const part of parts) socket.write(part);
      if (parts.length > 1) socket.uncork();
    };
    const reader = new AnswerReader(this.#target.streamed, {
      first: () => (firstMs = performance.now()),
      whole: (ok) => {
        if (this.counting) {
          this.latencies.push(performance.now() - sentMs);
          this.firsts.push(firstMs - sentMs);
          if (!ok) this.failures += 1;
        }
        isDone = fresh;
        if (this.stopping) socket.destroy();
        else if (!fresh) send();
        else {
          this.#closers.delete(close);
          this.#open();
          socket.end();
        }
      },
    });
    const close = (): void => void socket.destroy();
    this.#closers.add(close);
    socket.on("data", (bytes: Buffer) => reader.read(bytes));
    socket.on("connect", send);
    // `close` follows.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#closers.delete(close);
      if (!this.stopping && !isDone) {
        this.failures += 1;
        setTimeout(() => (this.stopping ? this.#checkOver() : this.#open()), againMs);
      }
      this.#checkOver();
    });
  }

  #checkOver(): void {
    if (this.stopping && this.#closers.size === 0) this.#resolve();
  }

  /** Closes every connection, whatever is under way. */
  end(): void {
    this.stopping = true;
    for (const close of this.#closers) close();
    this.#checkOver();
  }
}
