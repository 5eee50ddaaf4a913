/**
 * Replaces src/upstream/http1/pool.ts: text calls over undici, under the rules for media calls there. It keeps the same deadlines.
 * See without.ts.
 */
import type { Dispatcher } from "undici";
import { toExchangeError } from "../../src/upstream/exchange-error.ts";
import type { Carrier, Job } from "../../src/upstream/http1/job.ts";
import { MediaPool } from "../../src/upstream/media-pool.ts";
import type { OriginRules } from "../../src/upstream/origin-rules.ts";

type Headers = Readonly<Record<string, string>>;

interface Head {
  readonly path: string;
  readonly headers: Headers;
}

export class HttpPool {
  readonly #media: MediaPool;
  /** The `head` of an exchange: undici builds it anew for each request. */
  readonly heads = { get: (path: string, headers: Headers): Head => ({ path, headers }) };

  constructor(rules: OriginRules) {
    this.#media = new MediaPool(rules);
  }

  open(job: Omit<Job, "head"> & { readonly head: Head }): void {
    this.#media.dispatch(
      {
        method: "POST",
        path: job.head.path,
        headers: job.head.headers,
        body: typeof job.body === "string" ? job.body : Buffer.concat(job.body),
        headersTimeout: job.firstByteMs,
        bodyTimeout: job.idleMs,
      },
      new JobHandler(job),
    );
    job.body = "";
  }

  closeIdle(): void {
    this.#media.closeIdle();
  }

  closeOldest(): boolean {
    this.#media.closeOldest();
    return false;
  }

  close(): void {
    void this.#media.destroy();
  }
}

type OpenJob = Omit<Job, "head">;

/** Passes the response to the exchange, and acts as its carrier. */
class JobHandler implements Dispatcher.DispatchHandler, Carrier {
  readonly #job: OpenJob;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;
  #closed = false;

  constructor(job: OpenJob) {
    this.#job = job;
    job.carrier = this;
    this.#timer = setTimeout(() => {
      if (this.#isOver) return;
      this.close();
      job.fail(job.late());
    }, job.endsMs - performance.now());
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    if (this.#controller?.paused === true) this.#controller.resume();
  }

  close(): void {
    this.#isOver = true;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#controller?.abort(new Error("the gateway closed the connection"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#closed) controller.abort(new Error("the gateway closed the connection"));
  }

  onResponseStart(...[, status, headers]: ResponseStart): void {
    if (!this.#isOver) this.#job.answered(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isOver) this.#job.data(chunk, 0, chunk.length);
  }

  onResponseEnd(): void {
    if (this.#end()) this.#job.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#end()) this.#job.fail(toExchangeError(error));
  }

  /** True if it was still open. */
  #end(): boolean {
    clearTimeout(this.#timer);
    const wasOpen = !this.#isOver;
    this.#isOver = true;
    return wasOpen;
  }
}

type ResponseStart = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>;
