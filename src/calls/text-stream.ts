/**
 * Relays a streamed answer: frames from the upstream through the tap to the caller, with back-pressure; charged before its last
 * frames are sent. STREAM rows; traps T14, T16, T17, T62, T88.
 */
import type { ByteLease } from "../base/byte-budget.ts";
import type { GatewayError } from "../base/errors.ts";
import { createSseParser, SseOverflowError, type SseEvent, type SseParser } from "../base/sse.ts";
import type { StreamTap } from "../protocols/index.ts";
import { answeredError, BadAnswerError, ExchangeError, type Exchange } from "../upstream/index.ts";
import { Backpressure, slowClientError } from "./backpressure.ts";
import { brokenBy } from "./broken-by.ts";
import { OpeningFrames } from "./opening-frames.ts";
import type { Reply } from "./reply.ts";
import { arrivedIsCharged, stopping, type Stoppable } from "./stopping.ts";
import { PendingEventBytes } from "./pending-event-bytes.ts";

/** The result of a stream. The last frames are not sent yet: the caller of `relayStream` settles first. */
export type StreamEnd =
  | { readonly kind: "complete" }
  | { readonly kind: "client_gone" }
  /** It broke after its client had held it back, an event had no room, or the gateway stops: none counts against the provider. */
  | { readonly kind: "ended_here"; readonly error: GatewayError }
  | { readonly kind: "broken"; readonly error: GatewayError };

/** Milliseconds to wait for the upstream to close after the protocol's end, before finishing without it. */
const lingerMs = 1_000;

interface RelayOptions {
  readonly exchange: Exchange;
  readonly tap: StreamTap;
  readonly reply: Reply;
  /** A lease of the budget in which incomplete events and waiting frames count. */
  readonly lease: ByteLease;
  /** `waitedMs`: how long frames have waited for the answer to begin. */
  onFirstFrame(waitedMs: number): void;
  /** Called with each event of the upstream. */
  readonly onEvent?: ((event: SseEvent) => void) | undefined;
  /** Holds the relay while it runs, so that a stop of the gateway can end it. */
  readonly stops: {
    stream: Stoppable | undefined;
    /** Set to true if the client read so slowly that the speed is not the provider's. */
    isSlowed: boolean;
  };
}

/**
 * Relays until the upstream ends or breaks, or the exchange is aborted because the client left. Rejects only while nothing was sent:
 * with BadAnswerError or ExchangeError, so that another attempt is possible, or with GatewayError if an event had no room.
 */
export function relayStream(options: RelayOptions): Promise<StreamEnd> {
  return new Promise((resolve, reject) => {
    const relay = new Relay(options, resolve, reject);
    options.reply.onDrain(() => relay.flow());
    relay.begin();
  });
}

/** The reason why a stream cannot be read, from the error thrown while reading it. */
export const unreadStream = (error: unknown): string =>
  error instanceof SseOverflowError ? error.message : "a frame of its stream cannot be read";

class Relay implements Stoppable {
  readonly #options: RelayOptions;
  readonly #resolve: (end: StreamEnd) => void;
  readonly #reject: (error: Error) => void;
  readonly #parser: SseParser = createSseParser();
  /** The frames that wait for the answer to begin; undefined once it has begun for the caller. */
  #opening: OpeningFrames | undefined;
  #settled = false;
  #closeTimer: NodeJS.Timeout | undefined;
  /** Characters of the answer when the wait for the upstream's close last began. */
  #written = 0;
  readonly #backpressure = new Backpressure();
  readonly #pendingBytes: PendingEventBytes;

  constructor(
    options: RelayOptions,
    resolve: (end: StreamEnd) => void,
    reject: (error: Error) => void,
  ) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#opening = new OpeningFrames(options.lease, () => this.#send(() => []));
    this.#pendingBytes = new PendingEventBytes(options.lease, () => this.#giveUp());
  }

  begin(): void {
    this.#options.stops.stream = this;
    this.#options.exchange.consume(this);
  }

  /** The client reads again. */
  flow(): void {
    this.#backpressure.end();
    this.#options.exchange.resume();
    if (this.#options.tap.seen.ended && !this.#settled) this.#startCloseTimer();
  }

  data(chunk: Buffer): void {
    this.#send(() => this.#tapped(this.#parser.push(chunk)));
    this.onPartialFrame(this.#parser.heldBytes);
  }

  onPartialFrame(bytes: number): void {
    if (this.#settled) return;
    try {
      this.#pendingBytes.set(bytes);
    } catch (error) {
      this.#hasNoRoom(error as GatewayError);
    }
  }

  end(): void {
    this.#send(() => this.#tapped(this.#parser.end()));
    this.#send(() => this.#options.tap.end?.() ?? []);
    if (this.#options.tap.seen.ended) this.#finish({ kind: "complete" });
    else this.#cut(new BadAnswerError("its stream ended before the answer was complete"));
  }

  fail(error: ExchangeError): void {
    // A complete answer stays complete, however the connection ended.
    if (this.#options.tap.seen.ended) this.#finish({ kind: "complete" });
    else if (error.failure === "aborted" && this.#hasArrived) this.#finish({ kind: "client_gone" });
    else this.#cut(error);
  }

  /** True once frames were sent: no other provider may answer. */
  get #hasBegun(): boolean {
    return this.#opening === undefined;
  }

  /** True if the client got frames, or left while frames or output waited: a tool call may be sent only when it is complete (T62). */
  get #hasArrived(): boolean {
    const { reply, tap } = this.#options;
    if (this.#opening === undefined) return true;
    return reply.gone && (!this.#opening.isEmpty || tap.seen.characters > 0);
  }

  /** The frames to forward for the events of one read: all are sent in one write. */
  #tapped(events: readonly SseEvent[]): readonly SseEvent[] {
    const { tap, onEvent } = this.#options;
    const frames: SseEvent[] = [];
    for (const event of events) {
      onEvent?.(event);
      for (const frame of tap.push(event)) frames.push(frame);
    }
    return frames;
  }

  /** Sends the frames that `step` returns. If it throws, the stream is unreadable. */
  #send(step: () => readonly SseEvent[]): void {
    if (this.#settled) return;
    const { tap, exchange } = this.#options;
    try {
      const frames = step();
      if (this.#opening !== undefined) this.#open(this.#opening, frames);
      else if (frames.length > 0) this.#write(frames);
    } catch (error) {
      this.#breakOff(new BadAnswerError(unreadStream(error), { cause: error }));
      exchange.abort();
      return;
    }
    const { error: told } = tap.seen;
    if (told) {
      this.#breakOff(answeredError("its stream holds an error", told));
      exchange.abort();
    } else if (tap.seen.ended) this.#startCloseTimer();
    else this.#cancelCloseTimer();
  }

  /** Lets the first frames wait until the answer begins. Until then an error leaves the call to another provider. */
  #open(opening: OpeningFrames, frames: readonly SseEvent[]): void {
    opening.add(frames);
    const { isOpening, ended, error, continuesAfterDisconnect } = this.#options.tap.seen;
    const isOver = ended && error === undefined;
    if (opening.isEmpty) return;
    // In the background the vendor goes on without us, and its caller needs the id of the first frame.
    const mayWait = isOpening && !isOver && continuesAfterDisconnect !== true;
    if (mayWait && opening.wait()) return;
    this.#opening = undefined;
    this.#options.onFirstFrame(opening.waitedMs);
    this.#write(opening.end());
  }

  #write(frames: readonly SseEvent[]): void {
    const { reply } = this.#options;
    if (!reply.gone && !reply.write(frames)) this.#hold();
  }

  /** Cancels the wait for the close. The end was none: some vendors send a finish reason with every frame. */
  #cancelCloseTimer(): void {
    clearTimeout(this.#closeTimer);
    this.#closeTimer = undefined;
  }

  /**
   * Starts the wait for the upstream's close, again after each new text: a vendor that sends a finish reason with every frame is
   * still writing. Other data after an end, such as comments and pings, does not delay the caller's end. While the client does not
   * read, the wait is off: nothing more can arrive, and the usage that many vendors send last would be missed (T47).
   */
  #startCloseTimer(): void {
    if (this.#backpressure.isNow && !this.#options.reply.gone) return this.#cancelCloseTimer();
    const { characters } = this.#options.tap.seen;
    const isWriting = characters > this.#written || this.#parser.isWithinEvent;
    if (this.#closeTimer !== undefined && !isWriting) return;
    this.#written = characters;
    clearTimeout(this.#closeTimer);
    const timer = setTimeout(() => {
      // After a long turn of the event loop, read what has arrived before the wait is over.
      setImmediate(() => {
        if (this.#closeTimer !== timer) return;
        this.#finish({ kind: "complete" });
        this.#options.exchange.abort();
      });
    }, lingerMs);
    this.#closeTimer = timer;
  }

  #hold(): void {
    this.#backpressure.begin();
    this.#options.exchange.pause();
  }

  /** Called when the gateway stops. A stream that has not begun ends with its call. A complete answer stays complete. */
  stop(): void {
    if (!this.#hasBegun) return;
    const isWhole = this.#options.tap.seen.ended;
    this.#finish(
      isWhole ? { kind: "complete" } : { kind: "ended_here", error: stopping(arrivedIsCharged) },
    );
    this.#options.exchange.abort();
  }

  /** An incomplete event is too long for the rest of the budget. */
  #hasNoRoom(error: GatewayError): void {
    if (this.#hasBegun) this.#finish({ kind: "ended_here", error });
    else this.#fail(error);
    this.#options.exchange.abort();
  }

  /** An incomplete event stalls, perhaps because its client does not read, and other calls need its room. */
  #giveUp(): void {
    this.#cut(new BadAnswerError("an event of its stream does not come to its end"));
    this.#options.exchange.abort();
  }

  /** The stream ended too early. */
  #cut(cause: ExchangeError | BadAnswerError): void {
    const isOurEnd = cause instanceof ExchangeError && cause.failure === "total_timeout";
    if (this.#backpressure.causedEarlyEnd(isOurEnd) && !this.#options.reply.gone)
      this.#finish({ kind: "ended_here", error: slowClientError() });
    else this.#breakOff(cause);
  }

  #breakOff(cause: ExchangeError | BadAnswerError): void {
    if (this.#settled) return;
    if (this.#hasBegun) this.#finish({ kind: "broken", error: brokenBy(cause) });
    else this.#fail(cause);
  }

  /** Rejects while nothing was sent: another provider may be asked, if the error allows it. */
  #fail(error: Error): void {
    this.#settle();
    this.#reject(error);
  }

  #finish(end: StreamEnd): void {
    if (this.#settled) return;
    this.#settle();
    this.#resolve(end);
  }

  #settle(): void {
    this.#settled = true;
    this.#cancelCloseTimer();
    this.#opening?.end();
    this.#pendingBytes.release();
    this.#options.stops.stream = undefined;
    this.#options.stops.isSlowed = this.#backpressure.isSlowing;
  }
}
