/**
 * One ask at a media vendor: request out, bounded answer in, whole or as it comes. Where it fails, it says whether the vendor
 * can have seen the request, because a job that costs money is never put twice (T81). docs/tasks.md.
 */
import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { errors, type Dispatcher } from "undici";
import { isShortage } from "../../base/shortage.ts";
import type { Provider } from "../../catalog/index.ts";
import { withAccess } from "../access.ts";
import { acceptEncoding, BodyDecoder, codingOf } from "../decoding.ts";
import { ExchangeError, type ExchangeFailure } from "../exchange-error.ts";
import type { MediaAsk } from "./types.ts";

/** What an ask may take; the times are the provider's own (`timeouts`) where they are not given. Milliseconds. */
export interface AskLimits {
  /** From the request's end to the answer's head. When absent, extended by the same time for each picture. */
  readonly firstByteMs?: number | undefined;
  /** The longest silence inside the answer. */
  readonly idleMs?: number | undefined;
  readonly totalMs?: number | undefined;
  /** When absent 128 MiB, or what the pictures that the answer brings along can come to. */
  readonly bytesMax?: number | undefined;
  /** Gives up at once when it fires. */
  readonly signal?: AbortSignal | undefined;
  /** Told the bytes of a whole answer as they are kept. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** The connections to the provider's origin. */
type Connections = Pick<Dispatcher, "dispatch">;

const mebibyte = 1024 * 1024;
const bytesMaxDefault = 128 * mebibyte;
/** The largest picture, 3840x2160 of noise with transparency, is a PNG of 33 MB, in base64 45 MB. */
const pictureBytesMax = 48 * mebibyte;

export interface MediaAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An answer that is still on its way. */
export interface StreamedAnswer extends Omit<MediaAnswer, "body"> {
  /**
   * Read slowly, it holds back the vendor; destroyed, it closes the connection. Ends with an AskFailure where the answer
   * does not come to its end.
   */
  readonly stream: Readable;
}

/** An ask without a whole answer. */
export class AskFailure extends ExchangeError {
  override name = "AskFailure";
  /**
   * False: the vendor has not got the whole request, so nothing was begun and it may be sent again.
   * True: it may have, and what came of it is unknown.
   */
  readonly sent: boolean;

  constructor(failure: ExchangeFailure, sent: boolean, cause?: Error) {
    const detail = failure === "unreadable" && cause ? `: ${cause.message}` : "";
    super(
      failure,
      `${meanings[failure]}${detail}${sent ? "" : "; the request was not sent"}`,
      cause,
    );
    this.sent = sent;
  }
}

const meanings: Readonly<Record<ExchangeFailure, string>> = {
  connect: "the provider cannot be reached",
  shortage: "the gateway has no connection left",
  first_byte_timeout: "the provider sent no answer in time",
  idle_timeout: "the provider fell silent in the middle of its answer",
  total_timeout: "the provider sent no complete answer in time",
  broken: "the connection to the provider broke",
  aborted: "the gateway closed the connection",
  too_large: "the provider's answer is too long",
  unreadable: "the provider's answer cannot be read",
};

/**
 * Asks and reads the whole answer, whatever its status. `pool` is the one of the provider's origin.
 * @throws AskFailure when there is no whole answer within the limits.
 */
export function ask(
  pool: Connections,
  provider: Provider,
  request: MediaAsk,
  limits: AskLimits = {},
): Promise<MediaAnswer> {
  return dispatch({ pool, provider, request, limits, streams: undefined }) as Promise<MediaAnswer>;
}

/**
 * Asks for a stream. An answer that is none (a refusal, a vendor that does not stream after all) is read whole.
 * @throws AskFailure when there is no head, or no whole answer, within the limits.
 */
export function askForStream(
  pool: Connections,
  provider: Provider,
  request: MediaAsk,
  limits: AskLimits = {},
): Promise<MediaAnswer | StreamedAnswer> {
  return dispatch({ pool, provider, request, limits, streams: isEventStream });
}

/** Whether an answer is a stream of events by what its head says. */
export const isEventStream = ({ headers }: Pick<MediaAnswer, "headers">): boolean =>
  (headers["content-type"] ?? "").toLowerCase().startsWith("text/event-stream");

type IsStream = (head: Pick<MediaAnswer, "status" | "headers">) => boolean;

interface Asking {
  readonly pool: Connections;
  readonly provider: Provider;
  readonly request: MediaAsk;
  readonly limits: AskLimits;
  readonly streams: IsStream | undefined;
}

function dispatch({ pool, provider, request, limits, streams }: Asking) {
  const { timeouts } = provider;
  return new Promise<MediaAnswer | StreamedAnswer>((resolve, reject) => {
    const { method, path, headers, body, pictures = 0 } = withAccess(provider, request);
    const stream = typeof body === "object" ? body.open() : undefined;
    const settling = { resolve, reject, stream };
    const totalMs = limits.totalMs ?? timeouts.totalMs;
    const bytesMax = limits.bytesMax ?? Math.max(bytesMaxDefault, pictures * pictureBytesMax);
    const { signal, onBytes } = limits;
    const handler = new AskHandler({ totalMs, bytesMax, signal, streams, onBytes }, settling);
    const length =
      typeof body === "object" ? { "content-length": String(body.contentLength) } : undefined;
    // Base64 is a third longer than its picture. An event is not to wait in somebody's compressor.
    const coding =
      pictures > 0 && streams === undefined ? { "accept-encoding": acceptEncoding } : undefined;
    pool.dispatch(
      {
        method,
        path,
        headers: { ...headers, ...length, ...coding },
        body: stream ?? (typeof body === "string" ? body : null),
        headersTimeout: limits.firstByteMs ?? timeouts.firstByteMs * (1 + pictures),
        bodyTimeout: limits.idleMs ?? timeouts.idleMs,
      },
      handler,
    );
  });
}

interface Bounds {
  readonly totalMs: number;
  readonly bytesMax: number;
  readonly signal: AbortSignal | undefined;
  /** Absent: every answer is read whole. */
  readonly streams: IsStream | undefined;
  readonly onBytes: AskLimits["onBytes"];
}

interface Settling {
  resolve(answer: MediaAnswer | StreamedAnswer): void;
  reject(failure: AskFailure): void;
  /** A request body that was opened for this ask. */
  readonly stream: Readable | undefined;
}

class AskHandler implements Dispatcher.DispatchHandler {
  readonly #bounds: Bounds;
  readonly #settling: Settling;
  readonly #deadline: NodeJS.Timeout;
  readonly #onAbort = (): void => this.#stop("aborted");
  #controller: Dispatcher.DispatchController | undefined;
  /** The connection stands and the request is on its way. */
  #started = false;
  /** A streamed body has been read to its end; before that the vendor has an incomplete request. */
  #bodyRead: boolean;
  #settled = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #length = 0;
  /** Where the bytes of a streamed answer go. */
  #out: Readable | undefined;
  /** Present where the answer is compressed. */
  #decoder: BodyDecoder | undefined;

  constructor(bounds: Bounds, settling: Settling) {
    this.#bounds = bounds;
    this.#settling = settling;
    this.#bodyRead = settling.stream === undefined;
    settling.stream?.once("end", () => (this.#bodyRead = true));
    // undici hears a stream's failure once it sends it; before that nobody else would.
    settling.stream?.on("error", (error) => this.#fail("broken", error));
    this.#deadline = setTimeout(() => this.#stop("total_timeout"), bounds.totalMs);
    bounds.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (bounds.signal?.aborted) this.#stop("aborted");
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error("given up before the request was sent"));
    else this.#started = true;
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
    try {
      this.#decoder = this.#decoderOf(controller, codingOf(headers));
    } catch (error) {
      return this.#stop("unreadable", error as Error);
    }
    if (this.#bounds.streams?.({ status, headers }) !== true) return;
    const stream = new Readable({
      read: () => (this.#decoder ?? controller).resume(),
      destroy: (error, done) => {
        this.#stop("aborted");
        done(error);
      },
    });
    // Whoever reads it hears of its failure; before that nobody would.
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

  #take(flow: Pick<Dispatcher.DispatchController, "pause">, chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > this.#bounds.bytesMax) this.#stop("too_large");
    else if (!this.#out) {
      this.#chunks.push(chunk);
      this.#bounds.onBytes?.(chunk.length);
    } else if (!this.#out.push(chunk)) flow.pause();
  }

  onResponseEnd(): void {
    if (this.#decoder) this.#decoder.end();
    else this.#end();
  }

  #end(): void {
    if (!this.#settle()) return;
    if (this.#out) return void this.#out.push(null);
    const [status, headers] = [this.#status, this.#headers];
    this.#settling.resolve({ status, headers, body: Buffer.concat(this.#chunks, this.#length) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof errors.HeadersTimeoutError) this.#fail("first_byte_timeout", error);
    else if (error instanceof errors.BodyTimeoutError) this.#fail("idle_timeout", error);
    else if (error instanceof errors.HTTPParserError) this.#fail("unreadable", notHttp(error));
    else if (this.#started) this.#fail("broken", error);
    else this.#fail(isShortage(error) ? "shortage" : "connect", error);
  }

  /** Gives up for a reason of our own, and closes the connection; nothing where the ask is over. */
  #stop(failure: ExchangeFailure, cause?: Error): void {
    if (this.#settled) return;
    this.#fail(failure, cause);
    this.#controller?.abort(new Error(meanings[failure]));
  }

  #fail(failure: ExchangeFailure, cause?: Error): void {
    // An answer has begun: whatever was missing of the request, the vendor has judged it.
    const sent = this.#started && (this.#bodyRead || this.#status !== 0);
    if (!this.#settle()) return;
    const error = new AskFailure(failure, sent, cause);
    if (this.#out) this.#out.destroy(error);
    else this.#settling.reject(error);
  }

  /** True the first time. */
  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#decoder?.destroy();
    clearTimeout(this.#deadline);
    this.#bounds.signal?.removeEventListener("abort", this.#onAbort);
    this.#settling.stream?.destroy();
    return true;
  }
}

/** The parser's own error quotes what was sent. */
const notHttp = ({ code }: errors.HTTPParserError): Error =>
  new Error(`it is not valid HTTP/1.1 (${code})`);
