/** The tap of a converted stream. STREAM-03 to STREAM-05. */
import type { GatewayError } from "../base/errors.ts";
import type { SseEvent } from "../base/sse.ts";
import type { Usage } from "../base/usage.ts";
import type { CanonicalEvent } from "./canonical/events.ts";
import type { Finish } from "./canonical/response.ts";
import type {
  AnswerContext,
  Codec,
  StreamSeen,
  StreamTap,
  Transducer,
  UpstreamCodec,
  WireError,
} from "./codec.ts";
import { TextLog, type TextRoom } from "./text-log.ts";

/** Returns the error for an answer that the upstream ended with an error. */
export const errorFromFinish = ({ raw = "no reason", explanation = raw }: Finish): WireError => ({
  message: `The upstream ended the answer with an error: ${explanation}`,
  isModels: true,
});

/**
 * Converts a stream between two protocols while it passes. The finish is held back until `release`, with the last usage reported by then:
 * some protocols report usage before the finish and some after.
 */
export class ConvertedTap implements StreamTap, StreamSeen {
  error: WireError | undefined = undefined;
  pictures = 0;
  reasoningCharacters = 0;
  readonly #decoder: Transducer<SseEvent, CanonicalEvent>;
  readonly #encoder: Transducer<CanonicalEvent, SseEvent>;
  readonly #log = new TextLog();
  #finish: CanonicalEvent | undefined;
  #usageEvent: Extract<CanonicalEvent, { type: "usage" }> | undefined;

  constructor(upstream: UpstreamCodec, caller: Codec, context: AnswerContext) {
    this.#decoder = upstream.decodeStream();
    this.#encoder = caller.encodeStream(context);
  }

  get seen(): StreamSeen {
    return this;
  }

  /** Text that is held back was generated too, and is billed if the stream ends here (T62). */
  get text(): string {
    return this.isTextCut ? this.#log.read() : this.#log.read() + this.#held;
  }

  get characters(): number {
    return this.#log.characters + this.#held.length;
  }

  get isTextCut(): boolean {
    return this.#log.isCut;
  }

  keepText(room: TextRoom): void {
    this.#log.keep(room);
  }

  get usage(): Usage | undefined {
    return this.#usageEvent?.coversStartOnly === true && this.ended
      ? undefined
      : this.#usageEvent?.usage;
  }

  /** An upstream that has sent its stop reason need not have closed yet. */
  get ended(): boolean {
    if (this.#finish) return true;
    return this.error === undefined && this.#decoder.ending?.() === true;
  }

  get isOpening(): boolean {
    return this.#decoder.isOpening?.() === true;
  }

  push(event: SseEvent): SseEvent[] {
    return this.#take(this.#decoder.push(event));
  }

  end(): SseEvent[] {
    return this.#take(this.#decoder.end({ kind: "complete" }));
  }

  release(usage?: Usage): SseEvent[] {
    const last = this.#finish ? [] : this.end();
    const final = this.usage ?? usage;
    return [
      ...last,
      ...(final ? this.#encoder.push({ type: "usage", usage: final }) : []),
      ...(this.#finish ? this.#encoder.push(this.#finish) : []),
      ...this.#encoder.end({ kind: "complete" }),
    ];
  }

  fail({ message, code }: GatewayError): SseEvent[] {
    return [
      ...this.#encoder.push({ type: "error", message, code }),
      ...this.#encoder.end({ kind: "cut", message }),
    ];
  }

  get #held(): string {
    return this.#decoder.held?.() ?? "";
  }

  #take(events: readonly CanonicalEvent[]): SseEvent[] {
    const frames: SseEvent[] = [];
    for (const event of events) {
      if (event.type === "finish" && event.finish.reason === "error")
        this.error = errorFromFinish(event.finish);
      else if (event.type === "finish") this.#finish = event;
      else if (event.type === "usage") this.#usageEvent = event;
      else if (event.type === "error") this.error = { message: event.message, code: event.code };
      else {
        if ("text" in event) this.#log.add(event.text);
        else if ("arguments" in event) this.#log.add(event.arguments);
        else if (event.type === "media" && event.part.media === "image") this.pictures += 1;
        if (event.type === "reasoning_delta") this.reasoningCharacters += event.text.length;
        for (const frame of this.#encoder.push(event)) frames.push(frame);
      }
    }
    return frames;
  }
}
