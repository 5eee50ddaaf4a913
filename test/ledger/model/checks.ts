/** Checks the rules after each step: admissions, refusals, reservations, and each charge exactly once. */
import { reserveRetryMs, settleRetryMs } from "../../../src/storage/index.ts";
import type { KeyName, Sent } from "./adapter.ts";
import type { Oracle, Funds } from "./oracle.ts";
import { inScope, isSameKey, nameOf, type Call, type Hold, type KeyPlace } from "./calls.ts";
import type { GatewayUnderTest } from "./process.ts";
import type { State } from "./world.ts";

/** Maximum age of a key's check for admission in memory, in ms. docs/ledger.md */
const freshMs = 50;
/** Time that a call waits for other calls to return what they do not use, in ms. */
const patienceMs = 150;

/** A charge that may exceed a limit: above its bound, or of a call without a reservation. `at` is its moment. */
interface Excess {
  readonly place: KeyName;
  readonly amount: number;
  readonly at: number;
}

const isKeyRefusal = (refusal: string) => /^(?:key_|workspace_)/.test(refusal);

/** The parts of a history that the checks read. */
export interface HistoryView {
  readonly oracle: Oracle;
  readonly calls: readonly Call[];
  readonly holds: Hold[];
  readonly gateways: readonly GatewayUnderTest[];
  readonly keys: readonly KeyName[];
  readonly state: State | undefined;
  readonly nowMs: number;
  recordStep(text: string): void;
  count(what: string): void;
}

export class Checks {
  readonly #history: HistoryView;
  readonly #excess: Excess[] = [];
  #failure: string | undefined;
  constructor(history: HistoryView) {
    this.#history = history;
  }

  /** Records a failure found outside of a step. The next `now()` throws it. */
  fail(what: string): void {
    this.#failure ??= what;
  }

  now(): void {
    if (this.#failure !== undefined) throw new Error(this.#failure);
  }

  /** The amount by which a limit may be exceeded since `first`: charges above bounds, and calls that lapsed leases left uncovered. */
  #slackSince(first: number): (scope: string) => number {
    return (scope) => {
      let slack = 0;
      for (const { place, amount, at } of this.#excess)
        if (at >= first && inScope(scope, place)) slack += amount;
      for (const call of this.#history.calls)
        if ((call.isUncovered || (call.coveredAt ?? -1) >= first) && inScope(scope, call.place))
          slack += call.amount;
      return slack;
    };
  }

  /** The earliest moment at which a check of the key is still valid for a call that arrives now. */
  #freshSince(gateway: GatewayUnderTest, workspace: string): number {
    const { oracle } = this.#history;
    const since = oracle.momentSince(gateway.nowMs - gateway.aheadMs - freshMs);
    return Math.max(since, gateway.resumedAt, gateway.signalledAt.get(workspace) ?? 0);
  }

  /** Checks an admission. Valid are checks of the key since the call arrived, and earlier ones that are still fresh. */
  admitted(call: Call): void {
    const { oracle } = this.#history;
    this.#history.count(
      call.arrivedAt > call.gateway.appliedAt ? "admitted in memory" : "admitted",
    );
    const fresh = this.#freshSince(call.gateway, call.place.workspace);
    const first = Math.min(fresh, call.arrivedAt);
    const exceeded = oracle.exceeded(call.place, call.bound, first, this.#slackSince(first));
    if (exceeded !== undefined) this.fail(`${call.id} is admitted and passes ${exceeded}`);
    if (!oracle.mayHaveBeenAdmitted(call.place, call.rotation, first)) {
      const why = oracle.refusal(call.place, call.rotation, oracle.moment);
      this.fail(
        `${call.id} is admitted though ${why ?? oracle.reached(call.place, oracle.moment)}`,
      );
    }
    const { calls } = this.#history;
    if (
      calls.some((one) => one.gateway === call.gateway && one.isUncovered && one.state === "open")
    )
      this.fail(`${call.id} is admitted before what runs is set aside again`);
    call.state = "open";
    call.amount = call.bound;
    oracle.uses.add(call);
    oracle.moment += 1;
  }

  refused(call: Call, refusal: string): void {
    const { oracle } = this.#history;
    call.state = "refused";
    // The database does not know that its reservation is free before the next batch.
    call.gateway.unconfirmed.add(nameOf(call.place));
    this.#history.count(`refused: ${refusal}`);
    this.#history.recordStep(`${call.id} refused: ${refusal}`);
    if (isKeyRefusal(refusal)) {
      if (!oracle.mayHaveRefused(call.place, call.rotation, call.arrivedAt, refusal))
        this.fail(`${call.id} is refused: ${refusal}, which it never was`);
      return;
    }
    if (refusal === "cap_reached" && oracle.mayHaveReached(call.place, call.arrivedAt)) return;
    if (!call.fitted || !this.#fits(call)) return;
    const waitedMs = call.gateway.nowMs - call.sinceMs;
    if (waitedMs < patienceMs)
      this.fail(`${call.id} fits and is refused after ${waitedMs} ms: ${refusal}`);
    else if (call.idle <= 0)
      this.fail(`${call.id} fits, nothing is idle, and is refused: ${refusal}`);
    else this.#history.count("refused for what others had idle");
  }

  /** Checks an error for a call or an end that waited too long for the database. The end may have been written. */
  rejected(call: Call, error: unknown): void {
    const sinceMs = call.state === "posting" ? call.endedMs : call.sinceMs;
    const patience = call.state === "posting" ? settleRetryMs : reserveRetryMs;
    const isLate = call.gateway.nowMs - sinceMs >= patience;
    if (!call.gateway.isAlive) return;
    if (!isLate || !/database is not reachable/.test(String(error)))
      this.fail(`${call.id}: ${String(error)}`);
    this.#history.count(`given up while ${call.state}`);
    call.gateway.unconfirmed.add(nameOf(call.place));
    this.gone(call);
  }

  /** Marks a call as given up: it uses nothing any more. */
  gone(call: Call): void {
    if (call.state === "done" || call.state === "refused") return;
    call.state = "gone";
    call.amount = 0;
  }

  held(hold: Hold, refusal: string | null): void {
    const { oracle, holds } = this.#history;
    this.state();
    if (refusal === null) {
      const first = oracle.moment;
      const exceeded = oracle.exceeded(hold.place, hold.amount, first, this.#slackSince(first));
      const why =
        oracle.refusal(hold.place, hold.place.rotation, first) ?? oracle.reached(hold.place, first);
      if (exceeded !== undefined || why !== undefined)
        throw new Error(`${hold.id} holds and passes ${exceeded ?? why}`);
      holds.push(hold);
      oracle.uses.add(hold);
      return;
    }
    this.#history.count(`hold refused: ${refusal}`);
    if (isKeyRefusal(refusal)) {
      if (oracle.refusal(hold.place, hold.place.rotation, oracle.moment) !== refusal)
        throw new Error(`${hold.id} is refused: ${refusal}, which it is not`);
      return;
    }
    const fits =
      oracle.exceeded(hold.place, hold.amount, oracle.moment, this.#unknownTo()) === undefined &&
      oracle.reached(hold.place, oracle.moment) === undefined;
    if (fits && this.#idleOf(hold.place.workspace) <= 0)
      throw new Error(`${hold.id} fits, nothing is idle, and is refused: ${refusal}`);
  }

  settled(hold: Hold, charge: number | null): void {
    const { oracle, holds, nowMs } = this.#history;
    holds.splice(holds.indexOf(hold), 1);
    oracle.uses.delete(hold);
    if (charge !== null) this.#charge(hold.place, charge, charge - hold.amount, nowMs);
    this.state();
  }

  #charge(place: KeyName, charge: number, excess: number, nowMs: number): void {
    this.#history.oracle.charge(place, charge, nowMs);
    if (excess > 0) this.#excess.push({ place, amount: excess, at: this.#history.oracle.moment });
  }

  /** Books the charges of written entries, each only the first time. */
  written(ids: readonly string[]): void {
    const { calls, nowMs, oracle } = this.#history;
    for (const id of ids) {
      const call = calls.find((one) => one.id === id)!;
      if (call.isWritten) continue;
      call.isWritten = true;
      call.amount = 0;
      oracle.uses.delete(call);
      const isOutOfBound = call.isUncovered || call.state === "gone";
      if (call.charge !== null)
        this.#charge(
          call.place,
          call.charge,
          isOutOfBound ? call.charge : call.charge - call.bound,
          nowMs,
        );
      call.isUncovered = false;
    }
  }

  /** Checks an applied batch: which calls it covers again, and whether the waiting calls fitted. */
  applied(gateway: GatewayUnderTest, { keys }: Sent): void {
    const { oracle } = this.#history;
    gateway.appliedAt = oracle.moment;
    const ours = this.#history.calls.filter(
      (call) => call.gateway === gateway && keys.some((key) => isSameKey(key, call.place)),
    );
    for (const call of ours)
      if (call.isUncovered && this.#asideFor(gateway, call.place) >= this.#usedOf(ours, call.place))
        [call.isUncovered, call.coveredAt] = [false, oracle.moment];
    for (const key of keys) this.#grant(gateway, key, ours);
    for (const call of ours) {
      if (call.state !== "waiting") continue;
      call.fitted = this.#fits(call);
      call.idle = this.#idleOf(call.place.workspace);
      if (
        call.fitted &&
        !call.isGranted &&
        oracle.mayHaveBeenAdmitted(call.place, call.rotation, oracle.moment)
      )
        this.#history.count("waits for what is idle");
    }
    for (const call of ours) call.isGranted = false;
    for (const key of keys) gateway.unconfirmed.add(nameOf(key));
    this.state();
  }

  /** Marks the first waiting calls of a key whose bounds its allowance covers now. */
  #grant(gateway: GatewayUnderTest, key: KeyPlace, ours: readonly Call[]): void {
    gateway.unconfirmed.delete(nameOf(key));
    let rest = this.#asideFor(gateway, key) - this.#usedOf(ours, key);
    for (const call of ours) {
      if (call.state !== "waiting" || !isSameKey(call.place, key)) continue;
      call.isGranted = call.bound <= rest;
      if (call.isGranted) rest -= call.bound;
    }
  }

  #asideFor(gateway: GatewayUnderTest, { workspace, key, rotation }: KeyPlace): number {
    const { id } = gateway.model;
    const found = this.#history.state!.allowances.find(
      (one) => one.w === workspace && one.k === key && one.r === rotation && one.gateway === id,
    );
    return found?.amount ?? 0;
  }

  #usedOf(calls: readonly Call[], place: KeyPlace): number {
    let sum = 0;
    for (const call of calls) if (isSameKey(call.place, place)) sum += call.amount;
    return sum;
  }

  /**
   * Amounts that are unused without the database knowing it, as a negative number. These are bounds of calls whose ends it has not
   * received, unused allowances whose answer was lost or is in flight, and allowances of dead gateways until their leases end.
   */
  #unknownTo(asking?: Call): (scope: string) => number {
    const { calls, state, gateways, keys } = this.#history;
    const unknown: { place: KeyName; amount: number }[] = [];
    for (const { w, k, r, gateway: id, amount } of state!.allowances) {
      const place = {
        ...keys.find(({ workspace, key }) => workspace === w && key === k)!,
        rotation: r,
      };
      const gateway = gateways.find(({ model }) => model.id === id)!;
      const ours = calls.filter((call) => call.gateway === gateway && isSameKey(call.place, place));
      if (!gateway.isAlive || gateway.unconfirmed.has(nameOf(place)))
        unknown.push({ place, amount: amount - this.#usedOf(ours, place) });
      else
        for (const call of ours) {
          if (call.isGranted && call !== asking) unknown.push({ place, amount: call.bound });
          if (call.state === "posting" && !call.isWritten)
            unknown.push({ place, amount: call.bound - call.amount });
        }
    }
    return (scope) =>
      unknown.reduce((sum, { place, amount }) => (inScope(scope, place) ? sum - amount : sum), 0);
  }

  #fits(call: Call): boolean {
    const { place, bound } = call;
    const { oracle } = this.#history;
    return oracle.exceeded(place, bound, oracle.moment, this.#unknownTo(call)) === undefined;
  }

  /** The unused reservations of a workspace, as far as the database can know. */
  #idleOf(workspace: string): number {
    const { state, oracle } = this.#history;
    const scope = `workspace ${workspace}`;
    const account = state!.accounts.find(({ w }) => w === workspace);
    return (account?.held ?? 0) - oracle.inUse(scope) + this.#unknownTo()(scope);
  }

  swept(gateway: GatewayUnderTest, before: State | undefined): void {
    const { state, calls } = this.#history;
    const has = (one?: State) =>
      one?.allowances.some(({ gateway: id, amount }) => id === gateway.model.id && amount > 0) ??
      false;
    if (has(before) && !has(state)) {
      this.#history.count("lapsed with something set aside");
      for (const call of calls) {
        if (call.gateway !== gateway) continue;
        if (call.amount > 0) call.isUncovered = true;
      }
    }
    this.state();
  }

  /** Checks that the tables add up, and that the allowances cover all running calls. */
  state(): void {
    const { state, gateways, keys } = this.#history;
    for (const { w, held, charged, credits } of state!.accounts) {
      const funds = this.#history.oracle.get<Funds>(`funds ${w}`);
      if (credits !== funds.credits)
        throw new Error(`${w}: credits ${credits}, and the oracle expects ${funds.credits}`);
      const sum = (rows: { w: string; amount: number }[]) =>
        rows.reduce((total, row) => (row.w === w ? total + row.amount : total), 0);
      const aside = sum(state!.allowances) + sum(state!.held);
      if (held !== aside) throw new Error(`${w}: held ${held}, and ${aside} is set aside`);
      const entries = sum(state!.charged);
      if (charged !== entries)
        throw new Error(`${w}: charged ${charged}, and entries of ${entries}`);
      const booked = this.#history.oracle.spent(`workspace ${w}`, "total");
      if (charged !== booked)
        throw new Error(`${w}: charged ${charged}, and the oracle expects ${booked}`);
    }
    for (const gateway of gateways)
      if (gateway.isAlive) for (const key of keys) this.#covered(gateway, key);
  }

  #covered(gateway: GatewayUnderTest, key: KeyName): void {
    const ours = this.#history.calls.filter(
      ({ place, ...call }) =>
        call.gateway === gateway && place.workspace === key.workspace && place.key === key.key,
    );
    if (ours.some((call) => call.isUncovered)) return;
    for (const rotation of new Set(ours.map((call) => call.rotation))) {
      const place = { ...key, rotation };
      const [aside, used] = [this.#asideFor(gateway, place), this.#usedOf(ours, place)];
      if (aside < used)
        throw new Error(
          `${gateway.name} ${key.workspace} ${key.key}: ${aside} is set aside, and ${used} in use`,
        );
    }
  }
}
