/**
 * A lane: the keys of some workspaces in one gateway, and the sequence of their batches to the database, one in flight at a time. Every
 * sending has a new number, so that a late one does nothing. docs/ledger.md "Batches".
 */
import { retryPauseMs } from "../base/retry.ts";
import { isLockTimeout, isTransient, unavailable } from "../storage/index.ts";
import { Backlog } from "./backlog.ts";
import type { Batch, BatchRow, Send, Target } from "./batch.ts";
import { decide } from "./decide.ts";
import { isTimedOut, isOverrun, lingerMs, type KeyUse } from "./key-use.ts";
import { idleRetryMs } from "./refusal.ts";
import type { ReserveInput } from "./types.ts";

/** The clock of a lane; tests replace it. */
export interface LaneClock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Runs `work` after `ms` milliseconds; with 0, when the event loop has run what is ready now. */
  later(work: () => void, ms: number): void;
}

export const systemLaneClock: LaneClock = {
  now: () => performance.now(),
  later: (work, ms) => void (ms === 0 ? setImmediate(work) : setTimeout(work, ms).unref()),
};

export interface LaneOptions {
  readonly gateway: string;
  readonly lane: number;
  /** Milliseconds that reservations outlive the gateway. */
  readonly leaseMs: number;
  readonly send: Send;
  readonly clock: LaneClock;
  /** True if gateway and database share one core; false if absent. */
  readonly sharesCore?: boolean | undefined;
  /** Called when another transaction has locked a workspace's account, to give it a lane of its own. Absent: it waits here. */
  readonly onBusy?: ((workspaceId: string) => void) | undefined;
  /** Called when there is nothing to send for now. */
  readonly onRest?: (() => void) | undefined;
}

export class Lane {
  readonly backlog: Backlog;
  private readonly options: LaneOptions;
  /** Sends batches one after another, while there is something to send. */
  private sending: Promise<void> | undefined;
  private number = 0;
  /** True if the lane is new or its lease ran out: it must restore what its running calls use before it asks for anything. */
  private lapsed = true;
  private failures = 0;
  private skipLocked = false;
  /** After the database refused a batch: how many batches of one item each are still to send, to find the item at fault. */
  private singlesLeft = 0;
  /** True if a batch must leave, even an empty one. */
  private mustSend = false;
  private closing = false;
  private tidying = false;

  constructor(options: LaneOptions) {
    this.options = options;
    this.backlog = new Backlog(options.sharesCore);
  }

  /** True if the last batch failed. */
  get isAway(): boolean {
    return this.failures > 0;
  }

  /** Returns undefined if the call is let in at once; else resolves when it is. @throws GatewayError (rejects) */
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

  /** Ends a call that was let in; a null `charge` voids it. Resolves when its entry is written. @throws GatewayError (rejects) */
  end(call: ReserveInput, charge: bigint | null): Promise<void> {
    const key = this.backlog.keyOf(call);
    const { id, amountNano: bound } = call;
    const since = this.options.clock.now();
    return new Promise((resolve, reject) => {
      key.end({ id, charge, bound, since, resolve, reject });
      this.touch(key);
    });
  }

  /** Takes over the keys of a workspace from another lane, with their unsent items. That lane has nothing of them in flight. */
  adopt(workspaceId: string, from: Lane): void {
    this.backlog.adopt(workspaceId, from.backlog, this.options.clock.now());
    this.tidy();
    this.schedule();
  }

  /** Renews the lease, also without traffic. */
  heartbeat(): void {
    this.mustSend = this.number > 0;
    this.schedule();
  }

  /** Resolves when nothing waits or is in flight; the caller asks for nothing after it. Calls that still end are sent without a lease. */
  async close(): Promise<void> {
    this.closing = true;
    await this.sending;
  }

  private touch(key: KeyUse): void {
    this.backlog.touch(key);
    this.schedule();
  }

  private schedule(): void {
    if (this.mustSend || !this.backlog.isEmpty) this.sending ??= this.sendLoop();
  }

  private async sendLoop(): Promise<void> {
    await new Promise<void>((begin) => this.options.clock.later(begin, 0));
    let settlers: readonly (() => void)[] = [];
    for (;;) {
      const batch = this.build();
      const sent = batch && this.deliver(batch);
      // Send the next batch before resolving the calls of the last one, so that the database works in the meantime.
      for (const settle of settlers) settle();
      if (sent === undefined) break;
      settlers = await sent;
    }
    this.sending = undefined;
    this.options.onRest?.();
  }

  private build(): Batch | undefined {
    const { backlog, mustSend, lapsed: restore, skipLocked } = this;
    if (backlog.isEmpty && !mustSend) return undefined;
    const { gateway, lane, leaseMs, clock } = this.options;
    const sentAt = clock.now();
    const isSearching = this.singlesLeft > 0;
    const targets = restore
      ? backlog.restored(sentAt, isSearching)
      : backlog.nextTargets(sentAt, isSearching);
    this.mustSend = false;
    this.number += 1;
    const lease = { number: this.number, leaseMs: this.closing ? 0 : leaseMs };
    return { gateway, lane, ...lease, restore, skipLocked, targets, sentAt };
  }

  /** Sends a batch and applies its answer. Resolves with the callbacks that settle the promises of its calls. */
  private async deliver(batch: Batch): Promise<readonly (() => void)[]> {
    const { leaseMs, send, clock } = this.options;
    let failure: unknown;
    try {
      const rows = await send(batch);
      // After that time the lease may have run out: the answer is not used.
      if (clock.now() - batch.sentAt < leaseMs) return this.answered(batch, rows);
    } catch (error) {
      failure = error;
    }
    await this.failed(batch, failure);
    return [];
  }

  /** Handles a batch that may have taken effect or not: its items are sent again. `error` is undefined if the answer came too late. */
  private async failed(batch: Batch, error: unknown): Promise<void> {
    const { clock, onBusy } = this.options;
    this.failures += 1;
    if (error !== undefined && !isTransient(error)) this.isolate(batch, error);
    const isLocked = isLockTimeout(error);
    if (isLocked && onBusy !== undefined) this.skipLocked = true;
    const [nowMs, refusal] = [clock.now(), unavailable(error)];
    for (const key of this.backlog.keys.values()) {
      key.changedAt = nowMs;
      key.giveUp((call) => isTimedOut(call, nowMs), refusal);
    }
    const pauseMs = isLocked ? 1 : retryPauseMs(this.failures);
    await new Promise<void>((resume) => clock.later(resume, pauseMs));
  }

  /** Handles a batch that the database refused: sends each item alone, and rejects the one at fault with `error`. */
  private isolate({ targets, restore }: Batch, error: unknown): void {
    const [target] = targets;
    this.singlesLeft = 0;
    for (const { entries, asked } of targets)
      this.singlesLeft += Math.max(1, entries.length + asked.length);
    if (target === undefined || this.singlesLeft > 1 || restore) return;
    this.singlesLeft = 0;
    const { key, entries, asked } = target;
    const [call] = [...entries, ...asked];
    key.giveUp((one) => one === call, error);
    // Without this call, the key is sent once more, so that its reservation goes back. A key at fault itself is not sent again.
    if (call === undefined) this.backlog.requeue(key, this.options.clock.now());
  }

  /** Applies an answer. Keys without a row are sent again: a later batch may have come first. */
  private answered({ targets, restore, sentAt }: Batch, rows: readonly BatchRow[]): (() => void)[] {
    const { clock, onBusy } = this.options;
    const nowMs = clock.now();
    this.failures = 0;
    this.skipLocked = false;
    this.singlesLeft = Math.max(0, this.singlesLeft - 1);
    this.lapsed = rows.some(({ place }) => place === 0);
    const targetOf = ({ place }: BatchRow): Target => targets[place - 1]!;
    const done = rows.filter(({ place, refusal }) => place > 0 && refusal !== "busy");
    this.invalidateOverrun(done.map(targetOf));
    const settlers: (() => void)[] = [];
    for (const row of done) {
      const target = targetOf(row);
      const { key, entries } = target;
      key.close(entries);
      settlers.push(...entries.map(({ resolve }) => resolve));
      key.granted = row.allowance;
      if (!restore && !this.lapsed) settlers.push(...decide(target, row, sentAt, nowMs));
      if (key.waitsForHeadroom) clock.later(() => this.tidyAndSchedule(), idleRetryMs);
      this.backlog.requeue(key, nowMs);
    }
    if (this.lapsed) {
      // The database took its allowances back, except for those that another lane has set since.
      this.mustSend = true;
      for (const key of this.backlog.keys.values()) key.changedAt = nowMs;
    }
    // Other transactions have locked these accounts: all keys of the workspaces leave.
    const busy = rows.filter(({ refusal }) => refusal === "busy").map(targetOf);
    for (const workspaceId of new Set(busy.map(({ key }) => key.name.workspaceId)))
      onBusy?.(workspaceId);
    this.tidy();
    return settlers;
  }

  /**
   * No call set aside a cost above its bound. It may reach a cap or balance that was far when the workspace was last checked. So for these
   * keys only checks by this batch or a later one count. CAP-05.
   */
  private invalidateOverrun(written: readonly Target[]): void {
    const dear = written.filter(({ entries }) => entries.some(isOverrun));
    const overrun = new Set(dear.map(({ key }) => key.name.workspaceId));
    if (overrun.size === 0) return;
    for (const key of this.backlog.keys.values())
      if (overrun.has(key.name.workspaceId)) key.checkedAt = -Infinity;
  }

  /** Tidies up every `lingerMs`, as long as there are keys. */
  private tidy(): void {
    if (this.tidying || this.backlog.keys.size === 0) return;
    this.tidying = true;
    this.options.clock.later(() => {
      this.tidying = false;
      this.tidyAndSchedule();
      this.tidy();
    }, lingerMs);
  }

  private tidyAndSchedule(): void {
    this.backlog.tidy(this.options.clock.now());
    this.schedule();
  }
}
