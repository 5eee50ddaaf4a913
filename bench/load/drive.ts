/**
 * The load: connections over bare sockets. When an answer is complete, its connection sends the next request, or is replaced by a
 * fresh one.
 */
import { connect } from "node:net";
import { AnswerReader } from "./answer-reader.ts";

/** The target URL and requests of the load. */
export interface LoadTarget {
  /** For example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Whole HTTP requests, each as the parts that are written; all connections take them in turn. */
  readonly requests: readonly (readonly Buffer[])[];
  /** True if the answers are event streams. */
  readonly streamed: boolean;
  /** True if each request opens its own connection, whose opening time counts. */
  readonly fresh?: boolean;
}

interface LoadOptions {
  readonly connections: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** How long calls in flight at the end may still take, in ms; 3000 if absent. */
  readonly graceMs?: number;
  /** Called when counting begins and ends; answers before and after are not counted. */
  readonly onBegin?: () => void;
  readonly onEnd?: () => void;
}

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  /** Latencies of all answers, sorted, in milliseconds. */
  readonly latenciesMs: Float64Array;
  /** Times to the first byte of the body, sorted, in milliseconds. */
  readonly firstMs: Float64Array;
  /** Wrong answers, broken connections, and calls that had no answer when the grace time after the end was over. */
  readonly failures: number;
}

/** Milliseconds of load before counting begins, so that calls are in flight at both ends of the counted time. */
const leadMs = (seconds: number): number => Math.min(1_000, seconds * 300);
/** Connections are opened in this many steps of that time: calls that begin together would keep ending together. */
const openingSteps = 16;
/** Bounds the wait for a target that hangs, in ms. */
const graceMsUsual = 3_000;
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
    const late = setTimeout(() => run.giveUp(), options.graceMs ?? graceMsUsual);
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

/** Resolves early when the signal fires; the caller must check the signal. */
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

  /** Opens connections until there are `count`. */
  openUpTo(count: number): void {
    while (this.#closers.size < count && !this.stopping) this.#open();
  }

  /** Opens one connection, and a replacement if it breaks. */
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
      complete: (ok) => {
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

  /** Counts the calls in flight as failures, and closes their connections; others are closed already. */
  giveUp(): void {
    this.failures += this.#closers.size;
    this.end();
  }

  /** Closes every connection, even with calls in flight. */
  end(): void {
    this.stopping = true;
    for (const close of this.#closers) close();
    this.#checkOver();
  }
}
