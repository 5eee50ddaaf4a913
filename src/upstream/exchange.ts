/**
 * One HTTP exchange with an upstream over our own client (http1/): no streams, no per-chunk promises.
 * The head arrives as a promise; the body goes to one consumer, with back-pressure. docs/architecture.md.
 */
import type { IncomingHttpHeaders } from "node:http";
import { answerBytesMax, BodyDecoder, codingOf } from "./decoding.ts";
import type { ByteLease } from "../base/byte-budget.ts";
import type { JsonPieces } from "../base/json-write.ts";
import { ChunkBuffer } from "../base/chunk-buffer.ts";
import { ExchangeError } from "./exchange-error.ts";
import type { Carrier, Job } from "./http1/job.ts";
import type { HttpPool } from "./http1/pool.ts";
import { withTraceparent, type HeadText } from "./http1/request.ts";

/** The request, and its deadlines in milliseconds. */
export interface ExchangeRequest {
  readonly path: string;
  /** Reuse one object for the same headers: then they are written and checked only once. */
  readonly headers: Readonly<Record<string, string>>;
  /** An additional header that differs for each request. */
  readonly traceparent?: string | undefined;
  readonly body: JsonPieces;
  /** From the request on an open connection to the answer's head. */
  readonly firstByteMs: number;
  /** The longest silence within the answer's body; paused time does not count. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/** The receiver of an answer's decoded bytes. Exactly one of `end` and `fail` is called, once. */
export interface BodyConsumer {
  /** The bytes are overwritten after this returns: copy those to keep. */
  data(chunk: Buffer): void;
  /** Called with the number of bytes that wait for the end of their frame, if the answer has frames of its own. */
  onPartialFrame?(bytes: number): void;
  end(): void;
  fail(error: ExchangeError): void;
}

/** An answer whose head has arrived. */
export interface Exchange {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Sends the body to a consumer; bytes that arrived before are delivered at once. */
  consume(consumer: BodyConsumer): void;
  /**
   * Returns the whole body, counted in `lease`, if given: its holder keeps the bytes.
   * @throws ExchangeError `too_large` above `bytesMax`, or the error that broke the body; GatewayError `overloaded`
   */
  readAll(bytesMax: number, lease?: ByteLease): Promise<Buffer>;
  /** Pauses and resumes the flow, so that a slow client slows the upstream. Bytes that were already read may still be delivered. */
  pause(): void;
  resume(): void;
  /** Closes the connection at once; the consumer gets `fail` with `aborted`. */
  abort(): void;
}

/**
 * Sends one POST and resolves when the answer's head has arrived.
 * @throws ExchangeError if no head arrives in time or at all.
 */
export function openExchange(
  pool: HttpPool,
  request: ExchangeRequest,
): { answer: Promise<Exchange>; abort(): void } {
  let exchange: ClientExchange;
  try {
    exchange = new ClientExchange(request, headOf(pool, request));
  } catch (error) {
    const { message } = error as Error;
    return { answer: Promise.reject(new ExchangeError("broken", message, error)), abort() {} };
  }
  pool.open(exchange);
  return { answer: exchange.answer, abort: () => exchange.abort() };
}

const headOf = ({ heads }: HttpPool, { path, headers, traceparent }: ExchangeRequest): HeadText => {
  const head = heads.get(path, headers);
  return traceparent === undefined ? head : withTraceparent(head, traceparent);
};

class ClientExchange implements Job, Exchange {
  readonly answer: Promise<Exchange>;
  readonly head: HeadText;
  body: JsonPieces;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly endsMs: number;
  readonly beginsMs: number;
  carrier: Carrier | undefined;
  status = 0;
  headers: IncomingHttpHeaders = noHeaders;
  readonly #totalMs: number;
  #resolve!: (exchange: Exchange) => void;
  #reject!: (error: ExchangeError) => void;
  #consumer: BodyConsumer | undefined;
  /** Bytes that arrive before there is a consumer: at most two reads, because the flow is paused then. */
  #early: Buffer[] | undefined;
  /** Present if the body is compressed. */
  #decoder: BodyDecoder | undefined;
  #outcome: "open" | "ended" | ExchangeError = "open";

  constructor(request: ExchangeRequest, head: HeadText) {
    this.head = head;
    this.body = request.body;
    this.firstByteMs = request.firstByteMs;
    this.idleMs = request.idleMs;
    this.#totalMs = request.totalMs;
    this.beginsMs = performance.now();
    this.endsMs = this.beginsMs + request.totalMs;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  late(): ExchangeError {
    return new ExchangeError("total_timeout", `no complete answer within ${this.#totalMs} ms`);
  }

  answered(status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    this.headers = headers;
    this.#resolve(this);
    if (headers["content-encoding"] !== undefined) this.#decode(headers);
  }

  /** The status stays valid; a body that cannot be decoded fails when it is read. */
  #decode(headers: IncomingHttpHeaders): void {
    try {
      const coding = codingOf(headers);
      if (coding === undefined) return;
      this.#decoder = new BodyDecoder({
        coding,
        bytesMax: answerBytesMax,
        sink: {
          data: (chunk) => this.#deliver(chunk),
          end: () => this.#settle("ended"),
          fail: (error) => this.#stop(error),
        },
        source: {
          pause: () => this.carrier?.pause(),
          resume: () => this.carrier?.resume(),
        },
      });
    } catch (error) {
      this.#stop(error as ExchangeError);
    }
  }

  data(buffer: Buffer, from: number, to: number): void {
    if (this.#decoder) return this.#decoder.write(copyOf(buffer, from, to));
    if (this.#consumer) return this.#consumer.data(buffer.subarray(from, to));
    this.#deliver(copyOf(buffer, from, to));
  }

  #deliver(chunk: Buffer): void {
    if (this.#consumer) return this.#consumer.data(chunk);
    if (this.#early === undefined) this.#early = [chunk];
    else {
      this.#early.push(chunk);
      this.pause();
    }
  }

  end(): void {
    this.carrier = undefined;
    if (this.#decoder) this.#decoder.end();
    else this.#settle("ended");
  }

  fail(error: ExchangeError): void {
    this.carrier = undefined;
    if (this.#decoder) this.#decoder.fail(error);
    else this.#settle(error);
  }

  consume(consumer: BodyConsumer): void {
    this.#consumer = consumer;
    const early = this.#early;
    this.#early = undefined;
    if (early) for (const chunk of early) consumer.data(chunk);
    if (this.#outcome === "open") this.resume();
    else this.#tell(this.#outcome);
  }

  readAll(bytesMax: number, lease?: ByteLease): Promise<Buffer> {
    const early = this.#early;
    // The common case: the whole body arrived in one read, with the head.
    if (this.#outcome === "ended" && early?.length === 1 && early[0]!.length <= bytesMax) {
      this.#early = undefined;
      lease?.add(early[0]!.length);
      return Promise.resolve(early[0]!);
    }
    return new Promise((resolve, reject) => {
      const pieces = new ChunkBuffer();
      this.consume({
        data: (chunk) => {
          pieces.add(Buffer.from(chunk));
          try {
            if (pieces.length > bytesMax)
              throw new ExchangeError("too_large", `the answer is longer than ${bytesMax} bytes`);
            lease?.take(chunk.length);
          } catch (error) {
            // Reject here too: the exchange may have ended already, and then `abort` does nothing.
            reject(error);
            this.abort();
          }
        },
        end: () => resolve(pieces.join()),
        fail: (error) => {
          if (error.failure === "aborted") error.received = pieces.join();
          reject(error);
        },
      });
    });
  }

  pause(): void {
    if (this.#decoder) this.#decoder.pause();
    else this.carrier?.pause();
  }

  resume(): void {
    if (this.#decoder) this.#decoder.resume();
    else this.carrier?.resume();
  }

  abort(): void {
    this.#stop(new ExchangeError("aborted", "the gateway closed the connection"));
  }

  /** Ends the exchange from the gateway's side, and informs the consumer. */
  #stop(error: ExchangeError): void {
    if (this.#outcome !== "open") return;
    this.carrier?.close();
    this.#settle(error);
  }

  #settle(outcome: "ended" | ExchangeError): void {
    if (this.#outcome !== "open") return;
    this.#outcome = outcome;
    this.carrier = undefined;
    this.#decoder?.destroy();
    if (outcome !== "ended" && this.status === 0) this.#reject(outcome);
    else if (this.#consumer) this.#tell(outcome);
  }

  #tell(outcome: "ended" | ExchangeError): void {
    const consumer = this.#consumer;
    this.#consumer = undefined;
    if (outcome === "ended") consumer?.end();
    else consumer?.fail(outcome);
  }
}

function copyOf(buffer: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from);
  buffer.copy(copy, 0, from, to);
  return copy;
}

const noHeaders: IncomingHttpHeaders = {};
