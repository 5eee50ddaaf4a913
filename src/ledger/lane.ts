/**
 * A lane: the keys of some workspaces in one gateway, and the sequence of batches that brings them to the database; one is under way at
 * a time. Every sending has a new number, so that one which arrives late does nothing. docs/ledger.md "Batches".
 */
import { retryPauseMs } from "../base/retry.ts";
import { isTransient, reserveRetryMs, settleRetryMs, unavailable } from "../storage/index.ts";
import { Backlog } from "./backlog.ts";
import type { Batch, BatchRow, Send, Target } from "./batch.ts";
import { decide } from "./decide.ts";
import { lingerMs, type KeyUse, type Waiting } from "./key-use.ts";
import type { LaneClock } from "./lane-clock.ts";

export interface LaneOptions {
  readonly gateway: string;
  readonly lane: number;
  readonly leaseMs: number;
  readonly send: Send;
  readonly clock: LaneClock;
  /** The account of a workspace is locked elsewhere: it is to go on in a lane of its own. Absent: it waits in this one. */
  readonly onBusy?: ((workspaceId: string) => void) | undefined;
  /** There is nothing to send for now. */
  readonly onRest?: (() => void) | undefined;
}

const lockNotAvailable = "55P03";
const tellNobody = (): void => undefined;

export class Lane {
  readonly backlog = new Backlog();
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
  private looking = false;

  constructor(options: LaneOptions) {
    this.options = options;
  }

  /** The last batch did not come through. */
  get isAway(): boolean {
    return this.failures > 0;
  }

  /** Undefined when the call was let in at once; else resolves when it is. @throws GatewayError (rejects) */
  admit(key: KeyUse, bound: bigint): Promise<void> | undefined {
    const since = this.options.clock.now();
    if (key.admits(bound, since)) {
      key.begin(bound, since);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      key.waiting.push({ bound, since, resolve, reject });
      key.retryAt = 0;
      this.touch(key);
    });
  }

  /** A call that was let in is over; `charge` null voids it. Resolves when its entry is written. @throws GatewayError (rejects) */
  post(key: KeyUse, id: string, charge: bigint | null, bound: bigint): Promise<void> {
    const since = this.options.clock.now();
    return new Promise((resolve, reject) => {
      key.end({ id, charge, bound, since, resolve, reject });
      this.touch(key);
    });
  }

  /** Takes over the keys of a workspace from another lane, with what they have to send. Nothing of it is under way there. */
  adopt(workspaceId: string, from: Lane): void {
    this.backlog.adopt(from.backlog.release(workspaceId));
    this.look();
    this.schedule();
  }

  /** Keeps the lease, whether there is traffic or not; forgets keys that nobody uses. */
  heartbeat(): void {
    this.backlog.forget(this.options.clock.now());
    this.due = this.number > 0;
    this.schedule();
  }

  /** Resolves when nothing waits or is under way; nothing may be asked after it. The last batch ends the lease. */
  async close(): Promise<void> {
    this.closing = true;
    this.heartbeat();
    await this.flight;
  }

  private touch(key: KeyUse): void {
    this.backlog.touch(key);
    this.schedule();
  }

  private schedule(): void {
    this.flight ??= this.fly();
  }

  private async fly(): Promise<void> {
    await new Promise<void>((begin) => this.options.clock.soon(begin));
    let tell = tellNobody;
    for (;;) {
      const batch = this.build();
      const sent = batch && this.deliver(batch);
      // What waits has left before those of the last batch go on: the database works on it meanwhile.
      tell();
      if (sent === undefined) break;
      tell = await sent;
    }
    this.flight = undefined;
    this.options.onRest?.();
  }

  private build(): Batch | undefined {
    const { backlog, due, lapsed: restore, skipLocked } = this;
    if (backlog.isEmpty && !due) return undefined;
    const { gateway, lane, leaseMs, clock } = this.options;
    const sentAt = clock.now();
    const targets = backlog.take({ nowMs: sentAt, restore, alone: this.alone > 0 });
    if (targets.length === 0 && !due && !restore) {
      const retryMs = backlog.retryInMs(sentAt);
      if (retryMs !== undefined) clock.later(() => this.schedule(), retryMs);
      return undefined;
    }
    this.due = false;
    this.number += 1;
    const lease = { number: this.number, leaseMs: this.closing ? 0 : leaseMs };
    return { gateway, lane, ...lease, restore, skipLocked, targets, sentAt };
  }

  /** Sends a batch; answers with what lets its calls go on. */
  private async deliver(batch: Batch): Promise<() => void> {
    const { leaseMs, send, clock } = this.options;
    try {
      const rows = await send(batch);
      // No rows: a later sending was there before it. Too late: the lease it was given may have run out since.
      const isFenced = rows.length === 0 && batch.targets.length > 0;
      const isLate = clock.now() - batch.sentAt >= leaseMs;
      if (!isFenced && !isLate) return this.answered(batch, rows);
      await this.failed(batch);
    } catch (error) {
      await this.failed(batch, error);
    }
    return tellNobody;
  }

  /** Whether it took effect is unknown: all of it is sent again, as things are then. `error` absent: its answer says nothing. */
  private async failed(batch: Batch, error?: unknown): Promise<void> {
    const { clock, onBusy } = this.options;
    this.failures += 1;
    this.backlog.putBack(batch.targets);
    if (error !== undefined && !isTransient(error)) this.isolate(batch, error);
    const isLocked = (error as { code?: unknown } | undefined)?.code === lockNotAvailable;
    if (isLocked && onBusy !== undefined) this.skipLocked = true;
    const nowMs = clock.now();
    const isOlder =
      (ms: number) =>
      ({ since }: Waiting) =>
        since < nowMs - ms;
    const overdue = { waiting: isOlder(reserveRetryMs), ended: isOlder(settleRetryMs) };
    const refusal = unavailable(error);
    for (const key of this.backlog.keys.values()) {
      key.distrust();
      key.giveUp(overdue, refusal);
    }
    const pauseMs = isLocked ? 1 : retryPauseMs(this.failures);
    await new Promise<void>((resume) => clock.later(resume, pauseMs));
  }

  /** Something in a batch is refused by the database: each is tried alone, and what is at fault is reported. */
  private isolate({ targets, restore }: Batch, error: unknown): void {
    const alone = targets.map(({ entries, asked }) => Math.max(1, entries.length + asked));
    const sendings = alone.reduce((sum, one) => sum + one, 0);
    const [target] = targets;
    const isOne = target !== undefined && sendings === 1 && !restore;
    this.alone = isOne ? 0 : sendings;
    if (!isOne) return;
    const { key, entries } = target;
    const isCall = entries.length === 0;
    key.giveUp({ waiting: () => isCall, ended: (call) => entries.includes(call) }, error);
    // Without its entry a key is sent again: what was set aside for the call goes back.
    if (isCall) key.unsure = false;
  }

  private answered({ targets, restore, sentAt }: Batch, rows: readonly BatchRow[]): () => void {
    this.failures = 0;
    this.skipLocked = false;
    this.alone = Math.max(0, this.alone - 1);
    this.lapsed = rows.some(({ place }) => place === 0);
    const told: (() => void)[] = [];
    const busy: Target[] = [];
    for (const row of rows) {
      const target = targets[row.place - 1];
      if (target === undefined) continue;
      if (row.refusal === "busy") {
        busy.push(target);
        continue;
      }
      const { key, entries } = target;
      for (const call of entries) key.close(call);
      told.push(...entries.map(({ resolve }) => resolve));
      key.granted = row.allowance ?? 0n;
      key.unsure = false;
      if (!restore && !this.lapsed)
        told.push(...decide(target, row, sentAt, this.options.clock.now()));
      this.backlog.follow(key);
    }
    if (this.lapsed) this.lapse();
    this.setApart(busy);
    this.look();
    return () => {
      for (const tell of told) tell();
    };
  }

  /** Its allowances went back. */
  private lapse(): void {
    this.due = true;
    for (const key of this.backlog.keys.values()) {
      key.granted = 0n;
      key.unsure = false;
      key.distrust();
    }
  }

  /** Their accounts are locked elsewhere: all keys of their workspaces leave. */
  private setApart(busy: readonly Target[]): void {
    this.backlog.putBack(busy);
    for (const id of new Set(busy.map(({ key }) => key.workspaceId))) this.options.onBusy?.(id);
  }

  /** Looks after a while whether headroom is idle, as long as there is any. */
  private look(): void {
    if (this.looking || !this.backlog.hasHeadroom) return;
    this.looking = true;
    this.options.clock.later(() => {
      this.looking = false;
      this.backlog.touchIdle(this.options.clock.now());
      this.schedule();
      this.look();
    }, lingerMs);
  }
}
