/**
 * The speed of one provider's model: decayed means of the time to the first token and of output tokens per second. Streams and whole
 * answers are measured apart, because the first token of a whole answer comes with its last. docs/routing.md.
 */

/** The measurements of one answered call. */
export interface MeasuredCall {
  /** True if the caller wanted a stream. */
  readonly stream: boolean;
  /** True if the answer to a stream came whole: its tokens were made before the first one arrived. */
  readonly isWhole?: boolean | undefined;
  /** Milliseconds from the request to the first frame for the caller of a stream, or to the end of a whole answer. */
  readonly firstTokenMs: number;
  /** How long the vendor's first frame waited for it: the model was at work. Absent: it did not wait. */
  readonly waitedMs?: number | undefined;
  readonly durationMs: number;
  /** Undefined if the call did not end normally. */
  readonly outputTokens: number | undefined;
}

const halfLifeMs = 60_000;
/** The most that all older calls weigh together, in calls, so that a burst of them does not hide a later change. */
const weightMax = 50;
/** A measurement older than this is ignored. */
const staleMs = 120_000;
/** With fewer tokens no throughput is measured: most of the time went into the first one. */
const tokensMin = 16;

/** A mean with decaying weights. */
class DecayedRatio {
  #over = 0;
  #under = 0;
  #weight = 0;
  #countedMs = 0;

  add(over: number, under: number, nowMs: number): void {
    const ageMs = Math.max(nowMs - this.#countedMs, 0);
    const decay = ageMs === 0 ? 1 : 0.5 ** (ageMs / halfLifeMs);
    const factor = Math.min(decay, weightMax / Math.max(this.#weight, 1));
    this.#over = this.#over * factor + over;
    this.#under = this.#under * factor + under;
    this.#weight = this.#weight * factor + 1;
    this.#countedMs = nowMs;
  }

  /** Undefined without a recent value. */
  value(nowMs: number): number | undefined {
    if (this.#under === 0 || nowMs - this.#countedMs > staleMs) return undefined;
    return this.#over / this.#under;
  }
}

class KindOfAnswer {
  readonly latency = new DecayedRatio();
  readonly throughput = new DecayedRatio();
}

export class Speed {
  readonly #streams = new KindOfAnswer();
  readonly #whole = new KindOfAnswer();

  add(call: MeasuredCall, nowMs: number): void {
    const { latency, throughput } = call.stream ? this.#streams : this.#whole;
    latency.add(call.firstTokenMs, 1, nowMs);
    if (call.outputTokens === undefined || call.outputTokens < tokensMin) return;
    const isFlowing = call.stream && call.isWhole !== true;
    const beganMs = isFlowing ? call.firstTokenMs - (call.waitedMs ?? 0) : 0;
    // The time before the first token is excluded, so the first token is too.
    const tokens = isFlowing ? call.outputTokens - 1 : call.outputTokens;
    throughput.add(tokens, Math.max(call.durationMs - beganMs, 1) / 1000, nowMs);
  }

  /** Milliseconds to the first token; undefined if unknown. */
  firstTokenMs(stream: boolean, nowMs: number): number | undefined {
    return (stream ? this.#streams : this.#whole).latency.value(nowMs);
  }

  /** Output tokens per second; undefined if unknown. */
  tokensPerSecond(stream: boolean, nowMs: number): number | undefined {
    return (stream ? this.#streams : this.#whole).throughput.value(nowMs);
  }
}
