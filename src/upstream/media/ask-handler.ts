/** Reads the answer to one ask as undici delivers it: bounded, whole or as a stream, and settled once. */
import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { Dispatcher, errors } from "undici";
import { ChunkBuffer } from "../../base/chunk-buffer.ts";
import { isShortage } from "../../base/shortage.ts";
import { BodyDecoder, codingOf } from "../decoding.ts";
import { FaultError } from "../dial/faults.ts";
import type { ExchangeFailure } from "../exchange-error.ts";
import { refusalMsMax } from "../refusal-body.ts";
import { undici } from "../undici.ts";
import { AskFailure, meanings } from "./ask-failure.ts";
import type { AskLimits } from "./types.ts";
import { UploadError } from "./upload-error.ts";

export interface MediaAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An answer whose body is still arriving. */
export interface StreamedAnswer extends Omit<MediaAnswer, "body"> {
  /** Reading it slowly slows the vendor; destroying it closes the connection. Fails with an AskFailure if the answer is not complete. */
  readonly stream: Readable;
}

export type IsStream = (head: Pick<MediaAnswer, "status" | "headers">) => boolean;

interface Bounds extends Pick<AskLimits, "signal" | "room" | "maySend"> {
  readonly totalMs: number;
  readonly bytesMax: number;
  /** The limit of an answer that is kept whole. */
  readonly keptBytesMax: number;
  /** Selects the answers to stream. Absent: every answer is read whole. */
  readonly streams: IsStream | undefined;
}

type Flow = Pick<Dispatcher.DispatchController, "pause" | "resume">;

interface Settling {
  resolve(answer: MediaAnswer | StreamedAnswer): void;
  reject(failure: AskFailure): void;
  /** The request body that was opened for this ask, if any. */
  readonly stream: Readable | undefined;
}

/** The handler of one ask; it calls `settling` once, with the answer or the AskFailure. */
export class AskHandler implements Dispatcher.DispatchHandler {
  readonly #bounds: Bounds;
  readonly #settling: Settling;
  readonly #deadline: NodeJS.Timeout;
  /** Ends the body of a refusal that takes long. */
  #refusalEnd: NodeJS.Timeout | undefined;
  readonly #onAbort = (): void => this.#stop("aborted");
  #controller: Dispatcher.DispatchController | undefined;
  /** The connection is open and the request is being sent. */
  #started = false;
  /** The streamed body has been read to its end; before that the vendor has an incomplete request. */
  #bodyRead: boolean;
  #settled = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  readonly #pieces = new ChunkBuffer();
  #length = 0;
  /** The receiver of a streamed answer's bytes. */
  #out: Readable | undefined;
  /** Present if the answer is compressed. */
  #decoder: BodyDecoder | undefined;

  constructor(bounds: Bounds, settling: Settling) {
    this.#bounds = bounds;
    this.#settling = settling;
    this.#bodyRead = settling.stream === undefined;
    settling.stream?.once("end", () => (this.#bodyRead = true));
    // undici handles errors of the stream only once it sends it; earlier ones have no other listener.
    settling.stream?.on("error", (error) =>
      this.#fail(error instanceof UploadError ? "upload" : "broken", error),
    );
    this.#deadline = setTimeout(() => this.#stop("total_timeout"), bounds.totalMs);
    bounds.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (bounds.signal?.aborted) this.#stop("aborted");
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // undici writes in this turn of the event loop, so this is the last possible check.
    if (!this.#settled && this.#bounds.maySend?.() === false) this.#stop("aborted");
    else if (this.#settled) controller.abort(new Error("given up before the request was sent"));
    else {
      this.#started = true;
      // Registered before undici's own listener. An incomplete request starts nothing at the vendor.
      this.#settling.stream?.on("data", () => {
        if (this.#bounds.maySend?.() === false) this.#stop("aborted");
      });
    }
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (this.#settled) return;
    if (this.#isRefusal)
      this.#refusalEnd = setTimeout(() => this.#stop("idle_timeout"), refusalMsMax);
    try {
      this.#decoder = this.#decoderOf(controller, codingOf(headers));
    } catch (error) {
      return this.#stop("unreadable", error as Error);
    }
    if (this.#bounds.streams?.({ status, headers }) !== true)
      return this.#bounds.room?.onStart(() => this.#stop("idle_timeout"));
    const stream = new Readable({
      read: () => (this.#decoder ?? controller).resume(),
      destroy: (error, done) => {
        this.#stop("aborted");
        done(error);
      },
    });
    // Readers get the error themselves; without a reader it must not end the process.
    stream.on("error", () => undefined);
    this.#out = stream;
    this.#settling.resolve({ status, headers, stream });
  }

  #decoderOf(source: Dispatcher.DispatchController, coding: string | undefined) {
    if (coding === undefined) return undefined;
    const decoder: BodyDecoder = new BodyDecoder({
      coding,
      bytesMax: this.#bounds.bytesMax,
      sink: {
        data: (chunk) => this.#take(decoder, chunk),
        end: () => this.#end(),
        fail: (error) => this.#stop(error.failure, error),
      },
      source,
    });
    return decoder;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#decoder) this.#decoder.write(chunk);
    else this.#take(controller, chunk);
  }

  #take(flow: Flow, chunk: Buffer): void {
    this.#length += chunk.length;
    const { bytesMax, keptBytesMax } = this.#bounds;
    if (this.#length > (this.#out ? bytesMax : keptBytesMax)) this.#stop("too_large");
    else if (!this.#out) this.#keep(flow, chunk);
    else if (!this.#out.push(chunk)) flow.pause();
  }

  #keep(flow: Flow, chunk: Buffer): void {
    this.#pieces.add(chunk);
    const turn = this.#bounds.room?.onBytes(chunk.length);
    if (turn === undefined || this.#settled) return;
    flow.pause();
    void turn.then(() => {
      if (!this.#settled) flow.resume();
    });
  }

  onResponseEnd(): void {
    if (this.#decoder) this.#decoder.end();
    else this.#end();
  }

  #end(): void {
    if (!this.#settle(true)) return;
    if (this.#out) this.#out.push(null);
    else this.#give();
  }

  #give(): void {
    const [status, headers] = [this.#status, this.#headers];
    this.#settling.resolve({ status, headers, body: this.#pieces.join() });
  }

  /** The vendor refuses: the status decides, however the body ends. */
  get #isRefusal(): boolean {
    return this.#status >= 400;
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { BodyTimeoutError, HeadersTimeoutError, HTTPParserError } = undici().errors;
    if (error instanceof HeadersTimeoutError) this.#fail("first_byte_timeout", error);
    else if (error instanceof BodyTimeoutError) this.#fail("idle_timeout", error);
    else if (error instanceof HTTPParserError) this.#fail("unreadable", notHttp(error));
    else if (error instanceof FaultError) this.#fail(error.fault.kind, error);
    else if (error instanceof UploadError) this.#fail("upload", error);
    else if (this.#started) this.#fail("broken", error);
    else this.#fail(isShortage(error) ? "shortage" : "connect", error);
  }

  /** Ends the ask from the gateway's side, and closes the connection; does nothing if the ask is over. */
  #stop(failure: ExchangeFailure, cause?: Error): void {
    if (this.#settled) return;
    this.#fail(failure, cause);
    this.#controller?.abort(new Error(meanings[failure]));
  }

  #fail(failure: ExchangeFailure, cause?: Error): void {
    // Once an answer has begun, the vendor has judged the request, even if a part of it was missing.
    const isUnsent = cause instanceof FaultError;
    const sent = !isUnsent && this.#started && (this.#bodyRead || this.#status !== 0);
    if (!this.#settle(false)) return;
    if (this.#isRefusal && failure !== "aborted") return this.#give();
    const error = new AskFailure(failure, sent, cause);
    if (this.#out) this.#out.destroy(error);
    else this.#settling.reject(error);
  }

  /** Returns true the first time. */
  #settle(isWhole: boolean): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#bounds.room?.onEnd(isWhole);
    this.#decoder?.destroy();
    clearTimeout(this.#deadline);
    clearTimeout(this.#refusalEnd);
    this.#bounds.signal?.removeEventListener("abort", this.#onAbort);
    this.#settling.stream?.destroy();
    return true;
  }
}

/** The parser's own error quotes the received bytes, so its message is replaced. */
const notHttp = ({ code }: errors.HTTPParserError): Error =>
  new Error(`it is not valid HTTP/1.1 (${code})`);
