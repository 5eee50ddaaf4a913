/**
 * One HTTP exchange with an upstream over an undici pool, in undici's own handler form: no streams, no per-chunk promises.
 * The head arrives as a promise; the body goes to one consumer, with back-pressure. design.md section 9.
 */
import type { IncomingHttpHeaders } from "node:http";
import { errors, type Dispatcher } from "undici";

/** What to send, and how long to wait. All deadlines in milliseconds. */
export interface ExchangeRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

/** Why an exchange failed before or during its answer. */
export type ExchangeFailure =
  | "connect"
  | "first_byte_timeout"
  | "idle_timeout"
  | "total_timeout"
  | "broken"
  | "aborted"
  | "too_large";

/** The upstream could not be reached, went silent, or broke off. */
export class ExchangeError extends Error {
  override name = "ExchangeError";
  readonly failure: ExchangeFailure;
  /** What of a whole body had arrived when it was `aborted`. */
  received: Buffer | undefined;

  constructor(failure: ExchangeFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** Where an answer's bytes go. Exactly one of `end` and `fail` is called, once. */
export interface BodyConsumer {
  data(chunk: Buffer): void;
  end(): void;
  fail(error: ExchangeError): void;
}

/** An answer whose head has arrived. */
export interface Exchange {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Sends the body to a consumer; what arrived before is delivered at once. */
  consume(consumer: BodyConsumer): void;
  /** The whole body. @throws ExchangeError `too_large` above `bytesMax`, or what broke the body. */
  readAll(bytesMax: number): Promise<Buffer>;
  /** Stops and restarts the flow, so that a slow client holds back the upstream. */
  pause(): void;
  resume(): void;
  /** Closes the connection at once; the consumer hears `aborted`. */
  abort(): void;
}

/**
 * Sends one POST and resolves when the answer's head is here.
 * @throws ExchangeError when no head arrives in time or at all.
 */
export function openExchange(
  pool: Dispatcher,
  request: ExchangeRequest,
): { answer: Promise<Exchange>; abort(): void } {
  const handler = new ExchangeHandler(request);
  pool.dispatch(
    {
      method: "POST",
      path: request.path,
      headers: request.headers,
      body: request.body,
      headersTimeout: request.firstByteMs,
      bodyTimeout: request.idleMs,
    },
    handler,
  );
  return { answer: handler.head, abort: () => handler.abort() };
}

class ExchangeHandler implements Dispatcher.DispatchHandler, Exchange {
  readonly head: Promise<Exchange>;
  status = 0;
  headers: IncomingHttpHeaders = {};
  #resolveHead!: (exchange: Exchange) => void;
  #rejectHead!: (error: ExchangeError) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #consumer: BodyConsumer | undefined;
  // What arrives before there is a consumer: at most what one socket read brings, because the flow is paused then.
  #early: Buffer[] = [];
  #outcome: "open" | "ended" | ExchangeError = "open";
  #aborted = false;
  readonly #deadline: NodeJS.Timeout;

  constructor(request: ExchangeRequest) {
    this.head = new Promise((resolve, reject) => {
      this.#resolveHead = resolve;
      this.#rejectHead = reject;
    });
    this.#deadline = setTimeout(() => {
      this.#stop(
        new ExchangeError("total_timeout", `no complete answer within ${request.totalMs} ms`),
      );
    }, request.totalMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(new Error("aborted before the request was sent"));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    this.#resolveHead(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#aborted) return;
    if (this.#consumer) this.#consumer.data(chunk);
    else {
      this.#early.push(chunk);
      controller.pause();
    }
  }

  onResponseEnd(): void {
    this.#settle("ended");
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle(toExchangeError(error));
  }

  consume(consumer: BodyConsumer): void {
    this.#consumer = consumer;
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) consumer.data(chunk);
    if (this.#outcome === "open") this.#controller?.resume();
    else this.#tell(this.#outcome);
  }

  readAll(bytesMax: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let length = 0;
      this.consume({
        data: (chunk) => {
          length += chunk.length;
          chunks.push(chunk);
          if (length > bytesMax)
            this.#stop(
              new ExchangeError("too_large", `the answer is longer than ${bytesMax} bytes`),
            );
        },
        end: () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)),
        fail: (error) => {
          if (error.failure === "aborted") error.received = Buffer.concat(chunks);
          reject(error);
        },
      });
    });
  }

  pause(): void {
    if (this.#outcome === "open") this.#controller?.pause();
  }

  resume(): void {
    if (this.#outcome === "open") this.#controller?.resume();
  }

  abort(): void {
    if (this.#outcome !== "open") return;
    this.#aborted = true;
    this.#stop(new ExchangeError("aborted", "the gateway closed the connection"));
  }

  /** Ends the exchange for a reason of our own, and tells the consumer. */
  #stop(error: ExchangeError): void {
    if (this.#outcome !== "open") return;
    this.#settle(error);
    this.#controller?.abort(error);
  }

  #settle(outcome: "ended" | ExchangeError): void {
    if (this.#outcome !== "open") return;
    clearTimeout(this.#deadline);
    this.#outcome = outcome;
    if (outcome !== "ended" && this.status === 0) this.#rejectHead(outcome);
    else if (this.#consumer) this.#tell(outcome);
  }

  #tell(outcome: "ended" | ExchangeError): void {
    const consumer = this.#consumer;
    this.#consumer = undefined;
    if (outcome === "ended") consumer?.end();
    else consumer?.fail(outcome);
  }
}

const connectCodes = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** What undici or the network failed with, in our terms. `peer` is who was asked, for the message. */
export function toExchangeError(error: Error, peer = "upstream"): ExchangeError {
  if (error instanceof ExchangeError) return error;
  if (error instanceof errors.HeadersTimeoutError) {
    return new ExchangeError("first_byte_timeout", `the ${peer} sent no answer in time`, error);
  }
  if (error instanceof errors.BodyTimeoutError) {
    return new ExchangeError(
      "idle_timeout",
      `the ${peer} fell silent in the middle of its answer`,
      error,
    );
  }
  const code = "code" in error ? String(error.code) : "";
  if (connectCodes.has(code))
    return new ExchangeError("connect", `the ${peer} cannot be reached (${code})`, error);
  return new ExchangeError(
    "broken",
    `the connection to the ${peer} broke (${code || error.name})`,
    error,
  );
}
