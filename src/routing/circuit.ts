/**
 * The circuit breaker of one provider's model. Closed: it takes calls. Open: it takes none, for a pause that grows. After the pause one
 * probe is admitted: it closes the circuit, or the next pause begins. After closing, its share of the calls grows slowly. Reports of other
 * gateways count like this gateway's own calls. docs/routing.md. Pure: times are parameters, in milliseconds of a monotonic clock.
 */

/** When a circuit opens and closes. Times in milliseconds. */
export interface CircuitRules {
  /** This many failures in a row open the circuit. A silent call counts twice: it costs its caller the whole timeout. */
  readonly failuresInRow: number;
  /** Failures of this share of the recent calls open it too, once there are `callsMin` calls. */
  readonly failureShare: number;
  readonly callsMin: number;
  /** After this time a call counts half as much as a new one. */
  readonly halfLifeMs: number;
  readonly firstPauseMs: number;
  readonly pauseMsMax: number;
  /** After this time a probe in flight no longer blocks the next one. */
  readonly probeMs: number;
  /** Time in which the share of the calls grows after the circuit closed. */
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

/** `due`: open, its pause is over, and no probe is in flight. */
export type CircuitState = "closed" | "open" | "due";

/** Another gateway's report of this circuit, in milliseconds of the receiving gateway's clock. */
export interface OpenReport {
  readonly by: string;
  readonly pauseMs: number;
  readonly pauseEndMs: number;
  /** Until this time the probe of one gateway blocks those of the others; 0: none is in flight. */
  readonly probeEndMs: number;
}

/** Limit of remembered gateways with a wrong report: a gateway has a new name after each start. */
const doubtedMax = 100;
const shareMin = 0.1;
/** In recovery this many failures in a row open the circuit. */
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
  /** Time of the last change between open and closed. Calls that began before it say nothing about the state after it. */
  #changedMs: number;
  #pauseMs = 0;
  #pauseEndMs = 0;
  #probeEndMs = 0;
  /** Time when this gateway admitted the probe. */
  #probedMs = -Infinity;
  #recovering = false;
  #changes = 0;
  /** The gateway whose report opened it; undefined if this gateway opened it. */
  #openedBy: string | undefined;
  /** Gateways that reported it open although a probe here was answered. Their reports count again after a failure here. */
  readonly #doubtedGateways = new Set<string>();
  /** The last report of a doubted gateway. */
  #ignoredReport: OpenReport | undefined;

  /** `sinceMs`: calls that began before it say nothing about this provider. */
  constructor(rules: CircuitRules, sinceMs = -Infinity) {
    this.#rules = rules;
    this.#changedMs = sinceMs;
  }

  state(nowMs: number): CircuitState {
    if (this.#openedMs === undefined) return "closed";
    return nowMs >= this.#pauseEndMs && nowMs >= this.#probeEndMs ? "due" : "open";
  }

  /** Count of the changes that this gateway's own calls made; each is reported to other gateways. */
  get changes(): number {
    return this.#changes;
  }

  /** The report for other gateways: the pause and the time left of it; undefined while it is closed. */
  report(nowMs: number): { readonly pauseMs: number; readonly leftMs: number } | undefined {
    if (this.#openedMs === undefined) return undefined;
    return { pauseMs: this.#pauseMs, leftMs: Math.max(this.#pauseEndMs - nowMs, 0) };
  }

  /** When it opened; undefined while it is closed. */
  get openedMs(): number | undefined {
    return this.#openedMs;
  }

  /** The time when the next probe may be sent, while it is open. */
  get nextProbeMs(): number {
    return Math.max(this.#pauseEndMs, this.#probeEndMs);
  }

  /** Half-open: the pause is over, and a probe is in flight. */
  isProbed(nowMs: number): boolean {
    return this.#openedMs !== undefined && nowMs >= this.#pauseEndMs && nowMs < this.#probeEndMs;
  }

  /** True if a call is admitted. The first call that asks while a probe is due becomes the probe. */
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

  /** The decayed share of recent calls that failed; lower if there is hardly any recent call. */
  failureShare(nowMs: number): number {
    this.#decay(nowMs);
    const calls = this.#good + this.#bad;
    return calls < 1 ? this.#bad : this.#bad / calls;
  }

  /** Records that a call that began at `begunMs` was answered. */
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

  /** Records that a call that began at `begunMs` failed; `silent`: by a timeout. */
  failed(begunMs: number, nowMs: number, silent: boolean): void {
    if (begunMs < this.#changedMs) return;
    if (this.#openedMs !== undefined) {
      // This was the probe, or a call that had no other candidate.
      if (nowMs >= this.#pauseEndMs) this.#pause(nowMs);
      return;
    }
    this.#doubtedGateways.clear();
    if (this.#ignoredReport !== undefined && nowMs < this.#ignoredReport.pauseEndMs) {
      this.applyOpenReport(this.#ignoredReport, nowMs);
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

  /** Applies a report that another gateway opened it, or that its probe failed. The pause is at most what the rules here allow. */
  applyOpenReport(report: OpenReport, nowMs: number): void {
    const { by, pauseMs, pauseEndMs, probeEndMs } = report;
    if (this.#openedMs === undefined) {
      if (this.#doubtedGateways.has(by) && this.#inRow === 0) {
        this.#ignoredReport = report;
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

  /** Applies a report that another gateway's probe was answered. */
  applyClosedReport(nowMs: number): void {
    this.#ignoredReport = undefined;
    if (this.#openedMs !== undefined) this.#close(nowMs);
  }

  /** Records that another gateway has the probe; this one may ask again after `waitMs`. */
  probedElsewhere(nowMs: number, waitMs: number): void {
    if (this.#openedMs !== undefined)
      this.#probeEndMs = nowMs + Math.min(waitMs, this.#rules.probeMs);
  }

  /** Records that a call that began at `begunMs` said nothing about the provider. If it was the probe, the next call may be one. */
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
    this.#ignoredReport = undefined;
  }

  #doubt(gateway: string): void {
    if (this.#doubtedGateways.size >= doubtedMax) this.#doubtedGateways.clear();
    this.#doubtedGateways.add(gateway);
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
