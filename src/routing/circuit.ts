/**
 * The circuit breaker of one provider's model. Closed: calls go there. Open: they do not, for a pause that grows. After the
 * pause one probe may go; it closes the circuit, or the next pause begins. Once closed, its share of the calls grows slowly.
 * What other gateways found is an input like the own calls. docs/routing.md. Pure: the time comes in, in milliseconds of a clock that only goes forward.
 */

/** When a circuit opens and closes. Times in milliseconds. */
export interface CircuitRules {
  /** So many failures in a row open it. Silence counts twice: each silent call costs its caller the whole timeout. */
  readonly failuresInRow: number;
  /** So do failures of this share of the recent calls, once there are so many. */
  readonly failureShare: number;
  readonly callsMin: number;
  /** After so long a call counts half as much as a new one. */
  readonly halfLifeMs: number;
  readonly firstPauseMs: number;
  readonly pauseMsMax: number;
  /** A probe that has not ended by then keeps the next one away no longer. */
  readonly probeMs: number;
  /** How long the share of the calls grows after the circuit was closed. */
  readonly recoveryMs: number;
}

export const defaultCircuitRules: CircuitRules = {
  failuresInRow: 5,
  failureShare: 0.5,
  callsMin: 10,
  halfLifeMs: 15_000,
  firstPauseMs: 5_000,
  pauseMsMax: 120_000,
  probeMs: 30_000,
  recoveryMs: 20_000,
};

/** `due`: open, its pause is over, and nobody probes it yet. */
export type CircuitState = "closed" | "open" | "due";

/** What another gateway said of this circuit. Milliseconds of the clock of the one that hears it. */
export interface OpenReport {
  readonly by: string;
  readonly pauseMs: number;
  readonly pauseEndMs: number;
  /** Until when the probe of one gateway keeps those of the others away; 0: none is under way. */
  readonly probeEndMs: number;
}

/** Gateways that are remembered because their report was wrong: each has a new name after a start. */
const doubtedMax = 100;
const shareMin = 0.1;
/** In recovery so many failures in a row are enough. */
const failuresInRecovery = 2;

export class Circuit {
  readonly #rules: CircuitRules;
  /** Decayed counts of calls, as of `#countedMs`. */
  #good = 0;
  #bad = 0;
  #countedMs = 0;
  #inRow = 0;
  /** When it opened; undefined while it is closed. */
  #openedMs: number | undefined;
  /** Of the last change between open and closed: what began before it says nothing about what came of it. */
  #changedMs: number;
  #pauseMs = 0;
  #pauseEndMs = 0;
  #probeEndMs = 0;
  /** When the probe was admitted here. */
  #probedMs = -Infinity;
  #recovering = false;
  #changes = 0;
  /** The gateway by whose report it is open; undefined where this one opened it. */
  #openedBy: string | undefined;
  /** Gateways that called it open when a probe of ours was answered: from then on a failure of our own must speak for them. */
  readonly #doubted = new Set<string>();
  /** What a doubted gateway reported last. */
  #ignored: OpenReport | undefined;

  /** `sinceMs`: what began before it says nothing of this provider. */
  constructor(rules: CircuitRules, sinceMs = -Infinity) {
    this.#rules = rules;
    this.#changedMs = sinceMs;
  }

  state(nowMs: number): CircuitState {
    if (this.#openedMs === undefined) return "closed";
    return nowMs >= this.#pauseEndMs && nowMs >= this.#probeEndMs ? "due" : "open";
  }

  /** Goes up with each change that this gateway's own calls made: others are to hear of it. */
  get changes(): number {
    return this.#changes;
  }

  /** What other gateways are to hear: the pause and what is left of it; undefined while it is closed. */
  report(nowMs: number): { readonly pauseMs: number; readonly leftMs: number } | undefined {
    if (this.#openedMs === undefined) return undefined;
    return { pauseMs: this.#pauseMs, leftMs: Math.max(this.#pauseEndMs - nowMs, 0) };
  }

  /** When it opened; undefined while it is closed. */
  get openedMs(): number | undefined {
    return this.#openedMs;
  }

  /** When the next probe may go, while it is open. */
  get nextProbeMs(): number {
    return Math.max(this.#pauseEndMs, this.#probeEndMs);
  }

  /** Half-open: its pause is over, and a probe is under way. */
  isProbed(nowMs: number): boolean {
    return this.#openedMs !== undefined && nowMs >= this.#pauseEndMs && nowMs < this.#probeEndMs;
  }

  /** Whether a call may go there now. One of those that ask while a probe is due is admitted, and is the probe. */
  admit(nowMs: number): boolean {
    const state = this.state(nowMs);
    if (state === "due") {
      this.#probedMs = nowMs;
      this.#probeEndMs = nowMs + this.#rules.probeMs;
    }
    return state !== "open";
  }

  /** The share of its calls that it should get: 1, or less while it recovers. */
  share(nowMs: number): number {
    if (!this.#recovering) return 1;
    const share = (nowMs - this.#changedMs) / this.#rules.recoveryMs;
    if (share < 1) return Math.max(share, shareMin);
    this.#recovering = false;
    this.#pauseMs = 0;
    return 1;
  }

  /** The decayed share of recent calls that failed; less where hardly anything is known any more. */
  failureShare(nowMs: number): number {
    this.#decay(nowMs);
    const calls = this.#good + this.#bad;
    return calls < 1 ? this.#bad : this.#bad / calls;
  }

  /** A call that began at `begunMs` was answered. */
  succeeded(begunMs: number, nowMs: number): void {
    if (begunMs < this.#changedMs) return;
    if (this.#openedMs !== undefined) {
      if (this.#openedBy !== undefined) this.#doubt(this.#openedBy);
      this.#close(nowMs);
      this.#changes += 1;
    }
    this.#decay(nowMs);
    this.#good += 1;
    this.#inRow = 0;
  }

  /** A call that began at `begunMs` failed, in silence or at once. */
  failed(begunMs: number, nowMs: number, silent: boolean): void {
    if (begunMs < this.#changedMs) return;
    if (this.#openedMs !== undefined) {
      // The probe, or a call that had nowhere else to go.
      if (nowMs >= this.#pauseEndMs) this.#pause(nowMs);
      return;
    }
    this.#doubted.clear();
    if (this.#ignored !== undefined && nowMs < this.#ignored.pauseEndMs) {
      this.heardOpen(this.#ignored, nowMs);
      return;
    }
    const weight = silent ? 2 : 1;
    this.#decay(nowMs);
    this.#bad += weight;
    this.#inRow += weight;
    if (this.#tooBad(nowMs)) {
      this.#open(nowMs);
      this.#pause(nowMs);
    }
  }

  /** Another gateway opened it or found it bad again: it counts here too, no longer than our own rules would let it. */
  heardOpen(report: OpenReport, nowMs: number): void {
    const { by, pauseMs, pauseEndMs, probeEndMs } = report;
    if (this.#openedMs === undefined) {
      if (this.#doubted.has(by) && this.#inRow === 0) {
        this.#ignored = report;
        return;
      }
      this.#open(nowMs);
    }
    const { pauseMsMax, probeMs } = this.#rules;
    this.#openedBy = by;
    this.#pauseMs = Math.min(pauseMs, pauseMsMax);
    this.#pauseEndMs = Math.min(pauseEndMs, nowMs + pauseMsMax);
    this.#probeEndMs = Math.min(probeEndMs, nowMs + probeMs);
  }

  /** Another gateway's probe was answered. */
  heardClosed(nowMs: number): void {
    this.#ignored = undefined;
    if (this.#openedMs !== undefined) this.#close(nowMs);
  }

  /** The probe is another gateway's; ours may be asked for after so long. */
  probedElsewhere(nowMs: number, waitMs: number): void {
    if (this.#openedMs !== undefined)
      this.#probeEndMs = nowMs + Math.min(waitMs, this.#rules.probeMs);
  }

  /** A call that began at `begunMs` ended without saying anything of the provider: if it was the probe, the next call may be one. */
  undecided(begunMs: number): void {
    if (begunMs >= this.#probedMs) this.#probeEndMs = 0;
  }

  #tooBad(nowMs: number): boolean {
    const { failuresInRow, failureShare, callsMin } = this.#rules;
    const recovering = this.share(nowMs) < 1;
    if (this.#inRow >= (recovering ? Math.min(failuresInRecovery, failuresInRow) : failuresInRow))
      return true;
    const calls = this.#good + this.#bad;
    return calls >= callsMin && this.#bad >= calls * failureShare;
  }

  #open(nowMs: number): void {
    this.#openedMs = nowMs;
    this.#changedMs = nowMs;
    this.#recovering = false;
    this.#ignored = undefined;
  }

  #doubt(gateway: string): void {
    if (this.#doubted.size >= doubtedMax) this.#doubted.clear();
    this.#doubted.add(gateway);
  }

  #pause(nowMs: number): void {
    this.#changes += 1;
    this.#openedBy = undefined;
    const { firstPauseMs, pauseMsMax } = this.#rules;
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, firstPauseMs), pauseMsMax);
    this.#pauseEndMs = nowMs + this.#pauseMs;
    this.#probeEndMs = 0;
  }

  #close(nowMs: number): void {
    this.#openedMs = undefined;
    this.#openedBy = undefined;
    this.#changedMs = nowMs;
    this.#probeEndMs = 0;
    this.#recovering = true;
    this.#good = 0;
    this.#bad = 0;
    this.#inRow = 0;
  }

  #decay(nowMs: number): void {
    const ageMs = nowMs - this.#countedMs;
    if (ageMs < 100) return;
    const factor = 0.5 ** (ageMs / this.#rules.halfLifeMs);
    this.#good *= factor;
    this.#bad *= factor;
    this.#countedMs = nowMs;
  }
}
