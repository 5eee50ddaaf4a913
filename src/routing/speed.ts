/**
 * How fast one provider's model answers: decayed means of the time to its first token and of its output tokens a second.
 * Streams and whole answers are measured apart: the first token of a whole answer comes with its last. docs/routing.md.
 */

/** What one answered call tells. */
export interface MeasuredCall {
  readonly stream: boolean;
  /** From the request to the first frame of a stream, or to the end of a whole answer. */
  readonly firstTokenMs: number;
  readonly durationMs: number;
  /** Undefined where the call did not come to its end. */
  readonly outputTokens: number | undefined;
}

const halfLifeMs = 60_000;
/** All older calls together count as so many at most, so that a burst of them does not hide what has changed since. */
const weightMax = 50;
/** What was not measured for so long is not known any more. */
const staleMs = 120_000;
/** Too few to divide by their time: most of it went into the first one. */
const tokensMin = 16;

/** A mean whose older values count less. */
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

  /** Undefined where nothing is known, or not any more. */
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
    const spentMs = call.stream ? call.durationMs - call.firstTokenMs : call.durationMs;
    // The first token is what the time before it was for.
    const tokens = call.stream ? call.outputTokens - 1 : call.outputTokens;
    throughput.add(tokens, Math.max(spentMs, 1) / 1000, nowMs);
  }

  /** Milliseconds to the first token; undefined where it is not known. */
  firstTokenMs(stream: boolean, nowMs: number): number | undefined {
    return (stream ? this.#streams : this.#whole).latency.value(nowMs);
  }

  /** Output tokens a second; undefined where it is not known. */
  tokensPerSecond(stream: boolean, nowMs: number): number | undefined {
    return (stream ? this.#streams : this.#whole).throughput.value(nowMs);
  }
}
