/**
 * A lane: the keys of some workspaces in one gateway, and the sequence of batches that brings them to the database; one is under way at
 * a time. Every sending has a new number, so that one which arrives late does nothing. docs/ledger.md "Batches".
 */
import { retryPauseMs } from "../base/retry.ts";
import { isLockTimeout, isTransient, unavailable } from "../storage/index.ts";
import { Backlog } from "./backlog.ts";
import type { Batch, BatchRow, Send, Target } from "./batch.ts";
import { decide } from "./decide.ts";
import { isLate, isOverrun, lingerMs, type KeyUse } from "./key-use.ts";
import { idleRetryMs } from "./refusal.ts";
import type { ReserveInput } from "./types.ts";

/** Time as a lane knows it; tests of histories bring their own. */
export interface LaneClock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Runs `work` after a while; after 0 ms when what is to be done now is done. */
  later(work: () => void, ms: number): void;
}

export const systemLaneClock: LaneClock = {
  now: () => performance.now(),
  later: (work, ms) => void (ms === 0 ? setImmediate(work) : setTimeout(work, ms).unref()),
};

export interface LaneOptions {
  readonly gateway: string;
  readonly lane: number;
  /** For how long what is set aside outlives the gateway. */
  readonly leaseMs: number;
  readonly send: Send;
  readonly clock: LaneClock;
  /** Gateway and database have one core for both; false where absent. */
  readonly sharesCore?: boolean | undefined;
  /** The account of a workspace is locked elsewhere: it is to go on in a lane of its own. Absent: it waits in this one. */
  readonly onBusy?: ((workspaceId: string) => void) | undefined;
  /** There is nothing to send for now. */
  readonly onRest?: (() => void) | undefined;
}

export class Lane {
  readonly backlog: Backlog;
  private readonly options: LaneOptions;
  /** Batches that leave one after the other, as long as there is something to send. */
  private flight: Promise<void> | undefined;
  private number = 0;
  /** It is new, or its lease ran out: it must say what its running calls use before it asks for anything. */
  private lapsed = true;
  private failures = 0;
  private skipLocked = false;
  /** The database refused something in a batch: so many batches of one thing go now, or until it is found. */
  private alone = 0;
  /** A batch is to leave, even if it has nothing in it. */
  private due = false;
  private closing = false;
  private tidying = false;

  constructor(options: LaneOptions) {
    this.options = options;
    this.backlog = new Backlog(options.sharesCore);
  }

  /** The last batch did not come through. */
  get isAway(): boolean {
    return this.failures > 0;
  }

  /** Undefined when the call was let in at once; else resolves when it is. @throws GatewayError (rejects) */
  admit(call: ReserveInput): Promise<void> | undefined {
    const key = this.backlog.keyOf(call);
    const bound = call.amountNano;
    const since = this.options.clock.now();
    if (key.admits(bound, since)) {
      key.begin(bound, since);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      key.waiting.push({ bound, since, resolve, reject });
      this.touch(key);
    });
  }

  /** A call that was let in is over; `charge` null voids it. Resolves when its entry is written. @throws GatewayError (rejects) */
  post(call: ReserveInput, charge: bigint | null): Promise<void> {
    const key = this.backlog.keyOf(call);
    const { id, amountNano: bound } = call;
    const since = this.options.clock.now();
    return new Promise((resolve, reject) => {
      key.end({ id, charge, bound, since, resolve, reject });
      this.touch(key);
    });
  }

  /** Takes over the keys of a workspace from another lane, with what they have to send. Nothing of it is under way there. */
  adopt(workspaceId: string, from: Lane): void {
    this.backlog.adopt(workspaceId, from.backlog, this.options.clock.now());
    this.tidy();
    this.schedule();
  }

  /** Keeps the lease, whether there is traffic or not. */
  heartbeat(): void {
    this.due = this.number > 0;
    this.schedule();
  }

  /** Resolves when nothing waits or is under way; nothing may be asked after it. What still ends is sent, and takes no lease. */
  async close(): Promise<void> {
    this.closing = true;
    await this.flight;
  }

  private touch(key: KeyUse): void {
    this.backlog.touch(key);
    this.schedule();
  }

  private schedule(): void {
    if (this.due || !this.backlog.isEmpty) this.flight ??= this.fly();
  }

  private async fly(): Promise<void> {
    await new Promise<void>((begin) => this.options.clock.later(begin, 0));
    let told: readonly (() => void)[] = [];
    for (;;) {
      const batch = this.build();
      const sent = batch && this.deliver(batch);
      // What waits has left before those of the last batch go on: the database works on it meanwhile.
      for (const tell of told) tell();
      if (sent === undefined) break;
      told = await sent;
    }
    this.flight = undefined;
    this.options.onRest?.();
  }

  private build(): Batch | undefined {
    const { backlog, due, lapsed: restore, skipLocked } = this;
    if (backlog.isEmpty && !due) return undefined;
    const { gateway, lane, leaseMs, clock } = this.options;
    const sentAt = clock.now();
    const isSearching = this.alone > 0;
    const targets = restore
      ? backlog.restored(sentAt, isSearching)
      : backlog.take(sentAt, isSearching);
    this.due = false;
    this.number += 1;
    const lease = { number: this.number, leaseMs: this.closing ? 0 : leaseMs };
    return { gateway, lane, ...lease, restore, skipLocked, targets, sentAt };
  }

  /** Sends a batch, and takes in what is answered. Resolves with what tells its calls what became of them. */
  private async deliver(batch: Batch): Promise<readonly (() => void)[]> {
    const { leaseMs, send, clock } = this.options;
    let failure: unknown;
    try {
      const rows = await send(batch);
      // Else the lease it was given may have run out since.
      if (clock.now() - batch.sentAt < leaseMs) return this.answered(batch, rows);
    } catch (error) {
      failure = error;
    }
    await this.failed(batch, failure);
    return [];
  }

  /** Whether it took effect is unknown: all of it is sent again, as things are then. `error` absent: its answer says nothing. */
  private async failed(batch: Batch, error: unknown): Promise<void> {
    const { clock, onBusy } = this.options;
    this.failures += 1;
    if (error !== undefined && !isTransient(error)) this.isolate(batch, error);
    const isLocked = isLockTimeout(error);
    if (isLocked && onBusy !== undefined) this.skipLocked = true;
    const [nowMs, refusal] = [clock.now(), unavailable(error)];
    for (const key of this.backlog.keys.values()) {
      key.changedAt = nowMs;
      key.giveUp((call) => isLate(call, nowMs), refusal);
    }
    const pauseMs = isLocked ? 1 : retryPauseMs(this.failures);
    await new Promise<void>((resume) => clock.later(resume, pauseMs));
  }

  /** Something in a batch is refused by the database: each is tried alone, and what is at fault is reported. */
  private isolate({ targets, restore }: Batch, error: unknown): void {
    const [target] = targets;
    this.alone = 0;
    for (const { entries, asked } of targets)
      this.alone += Math.max(1, entries.length + asked.length);
    if (target === undefined || this.alone > 1 || restore) return;
    this.alone = 0;
    const { key, entries, asked } = target;
    const [call] = [...entries, ...asked];
    key.giveUp((one) => one === call, error);
    // The key is sent once more without it, so that what was set aside for it goes back; not where the key itself is refused.
    if (call === undefined) this.backlog.follow(key, this.options.clock.now());
  }

  /** Keys without a row, as in a batch that a later one came before, are sent again. */
  private answered({ targets, restore, sentAt }: Batch, rows: readonly BatchRow[]): (() => void)[] {
    const { clock, onBusy } = this.options;
    const nowMs = clock.now();
    this.failures = 0;
    this.skipLocked = false;
    this.alone = Math.max(0, this.alone - 1);
    this.lapsed = rows.some(({ place }) => place === 0);
    const targetOf = ({ place }: BatchRow): Target => targets[place - 1]!;
    const done = rows.filter(({ place, refusal }) => place > 0 && refusal !== "busy");
    this.distrustOverrun(done.map(targetOf));
    const told: (() => void)[] = [];
    for (const row of done) {
      const target = targetOf(row);
      const { key, entries } = target;
      key.close(entries);
      told.push(...entries.map(({ resolve }) => resolve));
      key.granted = row.allowance;
      if (!restore && !this.lapsed) told.push(...decide(target, row, sentAt, nowMs));
      if (key.patient) clock.later(() => this.look(), idleRetryMs);
      this.backlog.follow(key, nowMs);
    }
    if (this.lapsed) {
      // Its allowances went back, but for what another lane has set aside for its keys since.
      this.due = true;
      for (const key of this.backlog.keys.values()) key.changedAt = nowMs;
    }
    // Their accounts are locked elsewhere: all keys of their workspaces leave.
    const busy = rows.filter(({ refusal }) => refusal === "busy").map(targetOf);
    for (const workspaceId of new Set(busy.map(({ key }) => key.name.workspaceId)))
      onBusy?.(workspaceId);
    this.tidy();
    return told;
  }

  /**
   * What calls cost above their bounds was set aside by nobody: caps and balance that were far when their workspace was last checked may
   * be reached. Of its keys only what this batch or a later one finds counts. CAP-05.
   */
  private distrustOverrun(written: readonly Target[]): void {
    const dear = written.filter(({ entries }) => entries.some(isOverrun));
    const overrun = new Set(dear.map(({ key }) => key.name.workspaceId));
    if (overrun.size === 0) return;
    for (const key of this.backlog.keys.values())
      if (overrun.has(key.name.workspaceId)) key.checkedAt = -Infinity;
  }

  /** Tidies up once in a while, as long as there are keys. */
  private tidy(): void {
    if (this.tidying || this.backlog.keys.size === 0) return;
    this.tidying = true;
    this.options.clock.later(() => {
      this.tidying = false;
      this.look();
      this.tidy();
    }, lingerMs);
  }

  private look(): void {
    this.backlog.tidy(this.options.clock.now());
    this.schedule();
  }
}
