/**
 * The oracle: a sequential ledger that keeps everything, so that each rule is one line. It knows what calls really use (not what
 * is reserved for them), all charges, and every limit with the moment at which it began to apply.
 */
import { resetsAt, windows, type Layer, type Window } from "../../../src/base/cap-windows.ts";

export type CapsOf = Readonly<Record<Window, number | null>> & { readonly hard: boolean };

/** A limit, a status or an amount, and the moment from which it applies. */
interface Version<Value> {
  readonly from: number;
  readonly value: Value;
}

export interface Place {
  readonly workspace: string;
  readonly key: string;
  readonly member: string;
}

/** A call or hold that uses money of a place until it is over. */
export interface InUse {
  readonly place: Place;
  /** The amount in use now; 0 after the end. */
  readonly amount: number;
}

interface Charge {
  readonly place: Place;
  readonly amount: number;
  readonly at: number;
  readonly timeMs: number;
}

export interface KeyState {
  readonly status: "active" | "disabled" | "revoked";
  readonly expiresMs: number | null;
  readonly rotations: number;
  /** Until when the value before the last rotation works; null: it does not. */
  readonly previousMs: number | null;
}

export interface Funds {
  readonly credits: number;
  /** The credit line; null: no limit. */
  readonly line: number | null;
}

const layers: readonly Layer[] = ["workspace", "member", "key"];

export const scopeOf = (layer: Layer, place: Place): string =>
  layer === "workspace"
    ? `workspace ${place.workspace}`
    : `${layer} ${place.workspace} ${place[layer]}`;

const isIn = (scope: string, place: Place): boolean =>
  layers.some((layer) => scopeOf(layer, place) === scope);

/** Start of the period that contains `nowMs`, in ms. */
export function startsAt(window: Window, nowMs: number): number {
  const end = resetsAt(window, nowMs);
  if (end === null) return -Infinity;
  if (window === "monthly") return Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1);
  return end.getTime() - (window === "weekly" ? 7 : 1) * 86_400_000;
}

export class Oracle {
  /** A counter: each operation and each statement is one moment. */
  moment = 0;
  readonly charges: Charge[] = [];
  /** Calls and holds that may use money. */
  readonly uses = new Set<InUse>();
  readonly #times: { from: number; timeMs: number; monotonicMs: number }[] = [];
  #begunAt = 0;
  readonly #versions = new Map<string, Version<unknown>[]>();

  tick(timeMs: number, monotonicMs: number): void {
    this.moment += 1;
    this.#times.push({ from: this.moment, timeMs, monotonicMs });
  }

  #timeMsAt(moment: number): number {
    return this.#times.findLast(({ from }) => from <= moment)!.timeMs;
  }

  /** Marks the end of the set-up: earlier moments do not count. */
  begin(): void {
    this.#begunAt = this.moment;
  }

  /** The first moment at which the monotonic clock was at `monotonicMs` or later. */
  momentSince(monotonicMs: number): number {
    const time = this.#times.find((one) => one.monotonicMs >= monotonicMs);
    return Math.max(this.#begunAt, time?.from ?? this.moment);
  }

  /** Records a change. `what` is "caps <scope>", "key <workspace> <key>", "active <workspace>" or "funds <workspace>". */
  set(what: string, value: unknown): void {
    this.moment += 1;
    const versions = this.#versions.get(what) ?? [];
    versions.push({ from: this.moment, value });
    this.#versions.set(what, versions);
  }

  get<Value>(what: string, moment = this.moment): Value {
    return this.#versions.get(what)!.findLast(({ from }) => from <= moment)!.value as Value;
  }

  /** `first` and each later moment at which a version or the time changed. */
  #momentsSince(first: number): number[] {
    const changed = new Set([first]);
    for (const versions of this.#versions.values())
      for (const { from } of versions) if (from > first) changed.add(from);
    for (const { from } of this.#times) if (from > first) changed.add(from);
    return [...changed];
  }

  charge(place: Place, amount: number, timeMs: number): void {
    this.moment += 1;
    this.charges.push({ place, amount, at: this.moment, timeMs });
  }

  spent(scope: string, window: Window, moment = this.moment): number {
    const since = startsAt(window, this.#timeMsAt(moment));
    let sum = 0;
    for (const { place, amount, at, timeMs } of this.charges)
      if (at <= moment && timeMs >= since && isIn(scope, place)) sum += amount;
    return sum;
  }

  inUse(scope: string): number {
    let sum = 0;
    for (const use of this.uses) if (isIn(scope, use.place)) sum += use.amount;
    return sum;
  }

  /** The refusal of the key at a moment, independent of amounts. Undefined if there is none. */
  refusal(place: Place, rotation: number, moment: number): string | undefined {
    const key = this.get<KeyState>(`key ${place.workspace} ${place.key}`, moment);
    const nowMs = this.#timeMsAt(moment);
    if (key.status !== "active") return `key_${key.status}`;
    if (key.expiresMs !== null && key.expiresMs <= nowMs) return "key_expired";
    const isPrevious = key.rotations === rotation + 1 && (key.previousMs ?? 0) > nowMs;
    if (key.rotations > rotation && !isPrevious) return "key_unknown";
    return this.get(`active ${place.workspace}`, moment) ? undefined : "workspace_disabled";
  }

  /** The cap that is reached at a moment, if any. Only charges count, not reservations or the call itself. */
  reached(place: Place, moment: number): string | undefined {
    for (const layer of layers) {
      const scope = scopeOf(layer, place);
      const caps = this.get<CapsOf>(`caps ${scope}`, moment);
      for (const window of windows) {
        const cap = caps[window];
        if (cap !== null && this.spent(scope, window, moment) >= cap) return `${scope} ${window}`;
      }
    }
    return undefined;
  }

  /**
   * The limit that a call of `more` would exceed now by more than `slack`: a hard cap or the balance, each at its highest value
   * since `first`. Undefined if the call fits.
   */
  exceeded(
    place: Place,
    more: number,
    first: number,
    slack: (scope: string) => number = () => 0,
  ): string | undefined {
    const moments = this.#momentsSince(first);
    for (const layer of layers) {
      const scope = scopeOf(layer, place);
      const used = this.inUse(scope) + more - slack(scope);
      for (const window of windows) {
        const most = Math.max(
          ...moments.map((moment) => {
            const caps = this.get<CapsOf>(`caps ${scope}`, moment);
            return caps.hard ? (caps[window] ?? Infinity) : Infinity;
          }),
        );
        const is = this.spent(scope, window) + used;
        if (is > most) return `${scope} ${window}: ${is} of ${most}`;
      }
    }
    const scope = `workspace ${place.workspace}`;
    const is = this.spent(scope, "total") + this.inUse(scope) + more - slack(scope);
    const most = Math.max(
      ...moments.map((moment) => {
        const { credits, line } = this.get<Funds>(`funds ${place.workspace}`, moment);
        return line === null ? Infinity : credits + line;
      }),
    );
    return is > most ? `balance ${place.workspace}: ${is} of ${most}` : undefined;
  }

  /** True if at some moment since `first` the key was not refused and no cap was reached. */
  mayHaveBeenAdmitted(place: Place, rotation: number, first: number): boolean {
    return this.#momentsSince(first).some(
      (moment) =>
        this.refusal(place, rotation, moment) === undefined &&
        this.reached(place, moment) === undefined,
    );
  }

  /** True if at some moment since `first` the key had that refusal. */
  mayHaveRefused(place: Place, rotation: number, first: number, refusal: string): boolean {
    return this.#momentsSince(first).some(
      (moment) => this.refusal(place, rotation, moment) === refusal,
    );
  }

  mayHaveReached(place: Place, first: number): boolean {
    return (
      this.#momentsSince(first).some((moment) => this.reached(place, moment) !== undefined) ||
      this.reached(place, this.moment) !== undefined
    );
  }
}
