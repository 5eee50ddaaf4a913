/**
 * A lane: the keys of some workspaces in one gateway, and the sequence of batches that brings them to the database; one is under way at
 * a time. Every sending has a new number, so that one which arrives late does nothing. docs/ledger.md "Batches".
 */
import { retryPauseMs } from "../base/retry.ts";
import { isTransient, reserveRetryMs, settleRetryMs, unavailable } from "../storage/index.ts";
import type { Batch, BatchRow, Send } from "./batch.ts";
import { collect, type Collected, type Item, type OpenEntry } from "./collect.ts";
import { decide } from "./decide.ts";
import { lingerMs, type KeyUse } from "./key-use.ts";
import type { Refusal } from "./types.ts";

/** Time and its passing; tests of histories bring their own. */
export interface LaneClock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Runs `work` when what is to be done now is done. */
  soon(work: () => void): void;
  /** Runs `work` after a while. */
  later(work: () => void, ms: number): void;
}

export const systemLaneClock: LaneClock = {
  now: () => performance.now(),
  soon: (work) => void setImmediate(work),
  later: (work, ms) => void setTimeout(work, ms).unref(),
};

export interface LaneOptions {
  readonly gateway: string;
  readonly lane: number;
  readonly leaseMs: number;
  readonly send: Send;
  readonly clock: LaneClock;
  /** Those keys' account is locked elsewhere: they are to go on in a lane of their own. Absent: they wait in this one. */
  readonly onBusy?: ((keys: readonly KeyUse[], entries: readonly OpenEntry[]) => void) | undefined;
  /** There is nothing to send for now. */
  readonly onRest?: (() => void) | undefined;
}

const lockNotAvailable = "55P03";

/** What came as an answer to a batch says nothing of how things are: it is sent again. */
class NoAnswerError extends Error {}

export class Lane {
  readonly keys = new Set<KeyUse>();
  private readonly options: LaneOptions;
  private number = 0;
  /** It is new, or its lease ran out: it must say what its running calls use before it asks for anything. */
  private lapsed = true;
  private flying = false;
  private scheduled = false;
  private failures = 0;
  private skipLocked = false;
  /** Something in a batch was refused by the database itself: batches of one, until it is found. */
  private careful = false;
  private dirty = new Set<KeyUse>();
  private entries: OpenEntry[] = [];
  private readonly idling = new Set<KeyUse>();
  private idleTimer = false;
  private beat = false;
  private ending = false;
  private resting: (() => void)[] = [];

  constructor(options: LaneOptions) {
    this.options = options;
  }

  /** Undefined when the call was let in at once; else what becomes of it. @throws GatewayError database_unavailable (rejects) */
  admit(key: KeyUse, bound: bigint): Promise<Refusal | undefined> | undefined {
    const nowMs = this.options.clock.now();
    if (key.admits(bound, nowMs)) {
      key.begin(bound, nowMs);
      this.watchIdle(key);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      key.waiting.push({ bound, since: nowMs, resolve, reject });
      key.retryAt = 0;
      this.touch(key);
    });
  }

  /** A call that was let in is over; `charge` null voids it. Resolves when its entry is written. @throws GatewayError (rejects) */
  post(key: KeyUse, id: string, charge: bigint | null, bound: bigint): Promise<void> {
    const nowMs = this.options.clock.now();
    const draw = charge === null ? 0n : charge < bound ? charge : bound;
    key.end(bound, draw, nowMs);
    return new Promise((resolve, reject) => {
      this.entries.push({ key, id, charge, bound, draw, since: nowMs, resolve, reject });
      this.touch(key);
    });
  }

  /** Takes keys over, with what they still have to send. */
  adopt(keys: Iterable<KeyUse>, entries: readonly OpenEntry[] = []): void {
    this.entries.unshift(...entries);
    for (const key of keys) {
      this.keys.add(key);
      // A lane that is new sends what they use now: nothing may begin before it has.
      key.distrust();
      this.dirty.add(key);
      this.watchIdle(key);
    }
    this.schedule();
  }

  /** Gives everything away; only while nothing is under way. */
  release(): { keys: KeyUse[]; entries: OpenEntry[] } {
    const released = { keys: [...this.keys], entries: this.entries };
    this.keys.clear();
    this.dirty.clear();
    this.idling.clear();
    this.entries = [];
    return released;
  }

  /** Keeps the lease, whether there is traffic or not; forgets keys that nobody uses. */
  heartbeat(): void {
    const nowMs = this.options.clock.now();
    for (const key of this.keys)
      if (key.isUnused(nowMs) && !this.dirty.has(key)) this.keys.delete(key);
    if (this.number === 0) return;
    this.beat = true;
    this.schedule();
  }

  /** Resolves when nothing waits or is under way; nothing may be asked after it. `leave` ends the lease with the last batch. */
  async rest(leave: boolean): Promise<void> {
    this.ending = leave;
    for (const key of this.keys) this.dirty.add(key);
    if (leave && this.number > 0) this.beat = true;
    this.schedule();
    if (!this.isResting()) await new Promise<void>((resume) => this.resting.push(resume));
  }

  isResting(): boolean {
    return !this.flying && !this.scheduled;
  }

  private touch(key: KeyUse): void {
    this.dirty.add(key);
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
    const { entries, lapsed: restore, careful } = this;
    const nowMs = this.options.clock.now();
    const keys = restore ? this.keys : this.dirty;
    if (this.dirty.size === 0 && !this.beat) return undefined;
    const collected = collect({ nowMs, keys, entries, restore, careful });
    this.entries = entries.slice(collected.open.length);
    if (!restore) this.dirty = collected.later;
    if (collected.items.length === 0 && !this.beat && !restore) {
      this.watchRetries(nowMs);
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
    try {
      const rows = await send(batch);
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
    this.entries.unshift(...collected.open);
    for (const { key } of collected.items) {
      key.unsure = true;
      this.dirty.add(key);
    }
    for (const key of this.keys) key.distrust();
    this.failures += 1;
    const isFault = !isTransient(error) && !(error instanceof NoAnswerError);
    if (isFault) this.isolate(collected, error);
    const isLocked = (error as { code?: unknown }).code === lockNotAvailable;
    if (isLocked && this.options.onBusy !== undefined && !this.skipLocked) this.skipLocked = true;
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
    const gone = new Set(collected.open);
    for (const entry of gone) this.drop(entry, error);
    this.entries = this.entries.filter((entry) => !gone.has(entry));
    for (const { key } of collected.items) {
      key.unsure = false;
      if (gone.size > 0) continue;
      for (const waiting of key.takeWaiting(() => true)) waiting.reject(error);
    }
  }

  private drop(entry: OpenEntry, error: unknown): void {
    entry.key.pending -= entry.draw;
    entry.reject(error);
  }

  /** Those who have waited too long for a database that is away get an error. */
  private endOverdue(cause: unknown): void {
    const nowMs = this.options.clock.now();
    const error = unavailable(cause);
    for (const key of this.keys)
      for (const waiting of key.takeWaiting(({ since }) => nowMs - since > reserveRetryMs))
        waiting.reject(error);
    const isOverdue = (entry: OpenEntry): boolean => nowMs - entry.since > settleRetryMs;
    for (const entry of this.entries.filter(isOverdue)) this.drop(entry, error);
    this.entries = this.entries.filter((entry) => !isOverdue(entry));
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
      this.take(item, row);
      if (item.need !== null && !lapsed) item.key.unsure = false;
      if (item.need !== null && decides) this.decide(item, row, collected.nowMs, settled);
      if (item.key.waiting.length > 0) this.dirty.add(item.key);
    }
    if (lapsed) this.lapse();
    else this.lapsed = false;
    if (busy.size > 0)
      this.giveAway(
        busy,
        collected.open.filter(({ key }) => busy.has(key)),
      );
    return () => {
      for (const settle of settled) settle();
    };
  }

  private take({ key }: Item, { allowance }: BatchRow): void {
    key.granted = allowance ?? 0n;
    this.watchIdle(key);
  }

  private decide(item: Item, row: BatchRow, sentAt: number, settled: (() => void)[]): void {
    const { key, keep, headroom, epoch } = item;
    const target = (item.need ?? 0n) + keep + headroom;
    if (row.at === null) key.checked(sentAt, epoch);
    key.roomy = row.at === null && keep + headroom > 0n && key.granted >= target;
    for (const { waiting, refusal } of decide(key, row, sentAt, this.options.clock.now()))
      settled.push(() => waiting.resolve(refusal));
  }

  /** Its allowances went back. */
  private lapse(): void {
    this.lapsed = true;
    for (const key of this.keys) {
      key.granted = 0n;
      key.unsure = false;
      key.distrust();
      this.dirty.add(key);
    }
  }

  private giveAway(busy: ReadonlySet<KeyUse>, entries: readonly OpenEntry[]): void {
    const workspaces = new Set([...busy].map(({ workspaceId }) => workspaceId));
    const keys = [...this.keys].filter(({ workspaceId }) => workspaces.has(workspaceId));
    const left = this.entries.filter(({ key }) => workspaces.has(key.workspaceId));
    this.entries = this.entries.filter(({ key }) => !workspaces.has(key.workspaceId));
    for (const key of keys) {
      this.keys.delete(key);
      this.dirty.delete(key);
      this.idling.delete(key);
    }
    this.options.onBusy?.(keys, [...entries, ...left]);
  }

  /** Looks again whether a key is still in use, when its headroom may go back. */
  private watchIdle(key: KeyUse): void {
    if (key.free <= 0n) return;
    this.idling.add(key);
    if (this.idleTimer) return;
    this.idleTimer = true;
    this.options.clock.later(() => {
      this.idleTimer = false;
      const nowMs = this.options.clock.now();
      const idling = [...this.idling];
      this.idling.clear();
      for (const one of idling) {
        if (one.hasIdle(nowMs)) this.touch(one);
        else this.watchIdle(one);
      }
    }, lingerMs);
  }

  /** Keys whose calls wait for what others do not use are asked for again in a moment. */
  private watchRetries(nowMs: number): void {
    const waiting = [...this.dirty].filter((key) => key.waiting.length > 0);
    if (waiting.length === 0) return;
    const ms = Math.max(1, Math.min(...waiting.map((key) => key.retryAt)) - nowMs);
    this.options.clock.later(() => this.schedule(), ms);
  }
}
