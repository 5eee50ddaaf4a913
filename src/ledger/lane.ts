/**
 * A lane: the keys of some workspaces in one gateway, and the sequence of batches that brings them to the database; one is under way at
 * a time. Every sending has a new number, so that one which arrives late does nothing. docs/ledger.md "Batches".
 */
import { retryPauseMs } from "../base/retry.ts";
import { isTransient, reserveRetryMs, settleRetryMs, unavailable } from "../storage/index.ts";
import { Backlog, type Parcel } from "./backlog.ts";
import type { Batch, BatchRow, BatchWatch, Send } from "./batch.ts";
import type { Collected, Item } from "./collect.ts";
import { decide } from "./decide.ts";
import { IdleKeys } from "./idle-keys.ts";
import type { KeyUse } from "./key-use.ts";
import type { LaneClock } from "./lane-clock.ts";

export interface LaneOptions {
  readonly gateway: string;
  readonly lane: number;
  readonly leaseMs: number;
  readonly send: Send;
  readonly clock: LaneClock;
  /** Hears of each batch that has come back, or failed. */
  readonly watch?: BatchWatch | undefined;
  /** The account of a workspace is locked elsewhere: it is to go on in a lane of its own. Absent: it waits in this one. */
  readonly onBusy?: ((workspaceId: string, parcel: Parcel) => void) | undefined;
  /** There is nothing to send for now. */
  readonly onRest?: (() => void) | undefined;
}

const lockNotAvailable = "55P03";

/** What came as an answer to a batch says nothing of how things are: it is sent again. */
class NoAnswerError extends Error {}

export class Lane {
  private readonly options: LaneOptions;
  private readonly backlog = new Backlog();
  private readonly idle: IdleKeys;
  private number = 0;
  /** It is new, or its lease ran out: it must say what its running calls use before it asks for anything. */
  private lapsed = true;
  private flying = false;
  private scheduled = false;
  private failures = 0;
  private skipLocked = false;
  /** Something in a batch was refused by the database itself: batches of one, until it is found. */
  private careful = false;
  private beat = false;
  private ending = false;
  private resting: (() => void)[] = [];

  constructor(options: LaneOptions) {
    this.options = options;
    this.idle = new IdleKeys(options.clock, (key) => this.touch(key));
  }

  /** A key is used in this lane. */
  add(key: KeyUse): void {
    this.backlog.keys.add(key);
  }

  /** Undefined when the call was let in at once; else resolves when it is. @throws GatewayError (rejects) */
  admit(key: KeyUse, bound: bigint): Promise<void> | undefined {
    const nowMs = this.options.clock.now();
    if (key.admits(bound, nowMs)) {
      key.begin(bound, nowMs);
      this.idle.watch(key);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      key.waiting.push({ bound, since: nowMs, resolve, reject });
      key.retryAt = 0;
      this.touch(key);
    });
  }

  /** The last batch did not come through. */
  get isAway(): boolean {
    return this.failures > 0;
  }

  /** A call that was let in is over; `charge` null voids it. Resolves when its entry is written. @throws GatewayError (rejects) */
  post(key: KeyUse, id: string, charge: bigint | null, bound: bigint): Promise<void> {
    const nowMs = this.options.clock.now();
    const draw = charge === null ? 0n : charge < bound ? charge : bound;
    key.end(bound, draw, nowMs);
    return new Promise((resolve, reject) => {
      this.backlog.push({ key, id, charge, bound, draw, since: nowMs, resolve, reject });
      this.schedule();
    });
  }

  /** Takes keys over, with what they still have to send. */
  adopt(parcel: Parcel): void {
    this.backlog.adopt(parcel);
    for (const key of parcel.keys) {
      // A lane that is new sends what they use now: nothing may begin before it has.
      key.distrust();
      this.idle.watch(key);
    }
    this.schedule();
  }

  /** Gives away what is of a workspace, but for what is under way. */
  release(workspaceId: string): Parcel {
    const parcel = this.backlog.release(workspaceId);
    for (const key of parcel.keys) this.idle.forget(key);
    return parcel;
  }

  /** Keeps the lease, whether there is traffic or not; forgets keys that nobody uses. */
  heartbeat(): void {
    this.backlog.forgetUnused(this.options.clock.now());
    if (this.number === 0) return;
    this.beat = true;
    this.schedule();
  }

  /** Resolves when nothing waits or is under way; nothing may be asked after it. `leave` ends the lease with the last batch. */
  async rest(leave: boolean): Promise<void> {
    this.ending = leave;
    this.backlog.touchAll();
    if (leave && this.number > 0) this.beat = true;
    this.schedule();
    await new Promise<void>((resume) => this.resting.push(resume));
  }

  private touch(key: KeyUse): void {
    this.backlog.touch(key);
    this.schedule();
  }

  private schedule(): void {
    if (this.flying || this.scheduled) return;
    this.scheduled = true;
    this.options.clock.soon(() => {
      this.scheduled = false;
      if (!this.flying) void this.fly();
    });
  }

  /** Sends batches as long as there is something to send. */
  private async fly(): Promise<void> {
    this.flying = true;
    let settle = (): void => undefined;
    for (;;) {
      const collected = this.build();
      const sent = collected === undefined ? undefined : this.deliver(collected);
      // What waits has left before those of the last batch go on: the database works on it meanwhile.
      settle();
      if (sent === undefined) break;
      settle = await sent;
    }
    this.flying = false;
    this.options.onRest?.();
    for (const resume of this.resting.splice(0)) resume();
  }

  private build(): Collected | undefined {
    const { lapsed: restore, careful, backlog } = this;
    if (backlog.isEmpty && !this.beat) return undefined;
    const nowMs = this.options.clock.now();
    const collected = backlog.take({ nowMs, restore, careful });
    if (collected.items.length === 0 && !this.beat && !restore) {
      const retryMs = backlog.retryInMs(nowMs);
      if (retryMs !== undefined) this.options.clock.later(() => this.schedule(), retryMs);
      return undefined;
    }
    this.beat = false;
    return collected;
  }

  /** Sends a batch; answers with what lets its calls go on. */
  private async deliver(collected: Collected): Promise<() => void> {
    const { gateway, lane, leaseMs, send, clock } = this.options;
    const batch: Batch = {
      gateway,
      lane,
      number: (this.number += 1),
      leaseMs: this.ending ? 0 : leaseMs,
      restore: this.lapsed,
      skipLocked: this.skipLocked,
      keys: collected.items,
      entries: collected.entries,
    };
    const ended = this.options.watch?.(batch);
    try {
      const rows = await send(batch).catch((error: unknown) => {
        ended?.(error);
        throw error;
      });
      ended?.();
      // No rows: a later sending was there before it. Too late: the lease it was given may have run out since.
      const isLate = clock.now() - collected.nowMs >= leaseMs;
      if ((rows.length === 0 && batch.keys.length > 0) || isLate) throw new NoAnswerError();
      this.failures = 0;
      this.skipLocked = false;
      return this.answered(collected, batch, rows);
    } catch (error) {
      await this.failed(collected, error);
      return () => undefined;
    }
  }

  /** Whether it took effect is unknown: all of it is sent again, as things are then. */
  private async failed(collected: Collected, error: unknown): Promise<void> {
    this.backlog.putBack(collected);
    this.failures += 1;
    const isFault = !isTransient(error) && !(error instanceof NoAnswerError);
    if (isFault) this.isolate(collected, error);
    const isLocked = (error as { code?: unknown }).code === lockNotAvailable;
    if (isLocked && this.options.onBusy !== undefined) this.skipLocked = true;
    this.endOverdue(error);
    await new Promise<void>((resume) =>
      this.options.clock.later(resume, isLocked ? 1 : retryPauseMs(this.failures)),
    );
  }

  /** Something in a batch is refused by the database: each is tried alone, and what is at fault is reported. */
  private isolate(collected: Collected, error: unknown): void {
    const isOne = collected.items.length <= 1 && collected.open.length + collected.asked <= 1;
    if (!isOne || this.lapsed) {
      this.careful = true;
      return;
    }
    this.careful = false;
    this.backlog.refuse(collected, error);
  }

  /** Those who have waited too long for a database that is away get an error. */
  private endOverdue(cause: unknown): void {
    const nowMs = this.options.clock.now();
    const since = { waitingSince: nowMs - reserveRetryMs, entriesSince: nowMs - settleRetryMs };
    this.backlog.endOlder(since, unavailable(cause));
  }

  private answered(collected: Collected, batch: Batch, rows: readonly BatchRow[]): () => void {
    const lapsed = rows.some(({ place }) => place === 0);
    const busy = new Set<KeyUse>();
    for (const { place, refusal } of rows)
      if (refusal === "busy") busy.add(collected.items[place - 1]!.key);
    const written = collected.open.filter(({ key }) => !busy.has(key));
    for (const { key, draw } of written) key.pending -= draw;
    const settled: (() => void)[] = written.map(({ resolve }) => resolve);
    const decides = !batch.restore && !lapsed;
    for (const row of rows) {
      const item = collected.items[row.place - 1];
      if (item === undefined || busy.has(item.key)) continue;
      item.key.granted = row.allowance ?? 0n;
      item.key.unsure = false;
      this.idle.watch(item.key);
      if (item.need !== null && decides) this.decide(item, row, collected.nowMs, settled);
      if (item.key.waiting.length > 0) this.backlog.touch(item.key);
    }
    if (lapsed) this.lapse();
    else this.lapsed = false;
    if (busy.size > 0) this.giveAway(busy, collected);
    return () => {
      for (const settle of settled) settle();
    };
  }

  private decide(item: Item, row: BatchRow, sentAt: number, settled: (() => void)[]): void {
    const { key, keep, headroom, epoch } = item;
    const target = (item.need ?? 0n) + keep + headroom;
    if (row.at === null) key.checked(sentAt, epoch);
    key.roomy = row.at === null && keep + headroom > 0n && key.granted >= target;
    settled.push(...decide(key, row, sentAt, this.options.clock.now()));
  }

  /** Its allowances went back. */
  private lapse(): void {
    this.lapsed = true;
    this.backlog.touchAll();
    for (const key of this.backlog.keys) {
      key.granted = 0n;
      key.unsure = false;
      key.distrust();
    }
  }

  /** Their accounts are locked elsewhere: all keys of their workspaces leave, with the entries that were in the batch and the rest. */
  private giveAway(busy: ReadonlySet<KeyUse>, { open }: Collected): void {
    const unwritten = open.filter(({ key }) => busy.has(key));
    for (const id of new Set([...busy].map(({ workspaceId }) => workspaceId))) {
      const { keys, entries } = this.release(id);
      const first = unwritten.filter(({ key }) => key.workspaceId === id);
      this.options.onBusy?.(id, { keys, entries: [...first, ...entries] });
    }
  }
}
