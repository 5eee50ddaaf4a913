/**
 * What a lane has to send: which of its keys have news, and the entries that are not known to be written. When it is sent, and what
 * an answer means, is for the lane. docs/ledger.md "Batches".
 */
import { collect, type Collected, type Collecting, type OpenEntry } from "./collect.ts";
import type { KeyUse } from "./key-use.ts";

/** Keys, and entries of theirs, that go from one lane to another. */
export interface Parcel {
  readonly keys: readonly KeyUse[];
  readonly entries: readonly OpenEntry[];
}

export class Backlog {
  /** All keys of the lane. */
  readonly keys = new Set<KeyUse>();
  private dirty = new Set<KeyUse>();
  private entries: OpenEntry[] = [];

  /** No key has anything to send. */
  get isEmpty(): boolean {
    return this.dirty.size === 0;
  }

  /** A key has something to send. */
  touch(key: KeyUse): void {
    this.dirty.add(key);
  }

  touchAll(): void {
    for (const key of this.keys) this.dirty.add(key);
  }

  push(entry: OpenEntry): void {
    this.entries.push(entry);
    this.touch(entry.key);
  }

  /** Takes over what another lane gave. */
  adopt({ keys, entries }: Parcel): void {
    this.entries.unshift(...entries);
    for (const key of keys) {
      this.keys.add(key);
      this.dirty.add(key);
    }
  }

  /** Gives away what is of a workspace. */
  release(workspaceId: string): Parcel {
    const isOf = (key: KeyUse): boolean => key.workspaceId === workspaceId;
    const keys = [...this.keys].filter(isOf);
    const entries = this.entries.filter(({ key }) => isOf(key));
    this.entries = this.entries.filter(({ key }) => !isOf(key));
    for (const key of keys) {
      this.keys.delete(key);
      this.dirty.delete(key);
    }
    return { keys, entries };
  }

  /** Forgets the keys that nobody uses. */
  forgetUnused(nowMs: number): void {
    for (const key of this.keys)
      if (key.isUnused(nowMs) && !this.dirty.has(key)) this.keys.delete(key);
  }

  /** Takes out what goes into the next batch. A batch that restores leaves the news of its keys here until it is answered. */
  take(how: Pick<Collecting, "nowMs" | "restore" | "careful">): Collected {
    const keys = how.restore ? this.keys : this.dirty;
    const collected = collect({ ...how, keys, entries: this.entries });
    this.entries = this.entries.slice(collected.open.length);
    if (!how.restore) this.dirty = collected.later;
    return collected;
  }

  /** Nobody knows whether a batch took effect: all of it is to be sent again, as things are then. */
  putBack({ open, items }: Collected): void {
    this.entries.unshift(...open);
    for (const { key } of items) {
      key.unsure = true;
      this.dirty.add(key);
    }
    for (const key of this.keys) key.distrust();
  }

  /** The database refuses the one thing in a batch that was put back: the calls that wait for it get its error. */
  refuse({ open, items }: Collected, error: unknown): void {
    const gone = new Set(open);
    this.drop((entry) => gone.has(entry), error);
    // Without the entry its key is sent again: what was set aside for the call goes back.
    if (gone.size > 0) return;
    for (const { key } of items) {
      key.unsure = false;
      for (const waiting of key.takeWaiting(() => true)) waiting.reject(error);
    }
  }

  /** Calls that came before `waitingSince`, and entries that came before `entriesSince`, get an error. Monotonic milliseconds. */
  endOlder(
    {
      waitingSince,
      entriesSince,
    }: { readonly waitingSince: number; readonly entriesSince: number },
    error: unknown,
  ): void {
    for (const key of this.keys)
      for (const waiting of key.takeWaiting(({ since }) => since < waitingSince))
        waiting.reject(error);
    this.drop(({ since }) => since < entriesSince, error);
  }

  private drop(isGone: (entry: OpenEntry) => boolean, error: unknown): void {
    for (const entry of this.entries.filter(isGone)) {
      entry.key.pending -= entry.draw;
      entry.reject(error);
    }
    this.entries = this.entries.filter((entry) => !isGone(entry));
  }

  /** How long until keys may be asked for again whose calls wait for what others do not use; undefined where there are none. */
  retryInMs(nowMs: number): number | undefined {
    const waiting = [...this.dirty].filter((key) => key.waiting.length > 0);
    if (waiting.length === 0) return undefined;
    return Math.max(1, Math.min(...waiting.map((key) => key.retryAt)) - nowMs);
  }
}
