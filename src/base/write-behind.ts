/**
 * Write-behind: items for which no caller waits are gathered for a moment and written in batches, one after another. The queue is bounded,
 * so that a slow database costs items and not memory.
 */

/** Room for waiting items. */
export interface Room {
  /** Takes `size` of the room; returns false if less is left. */
  tryTake(size: number): boolean;
  give(size: number): void;
}

/** Creates room for `sizeMax` in all. */
export function roomFor(sizeMax: number): Room {
  let taken = 0;
  return {
    tryTake(size) {
      if (taken + size > sizeMax) return false;
      taken += size;
      return true;
    },
    give: (size) => void (taken -= size),
  };
}

export interface WriteBehindOptions<Item> {
  /** Writes a batch. It never rejects. */
  write(batch: readonly Item[]): Promise<void>;
  /** The most items of a batch. */
  readonly batchMax: number;
  /** How long a batch that is not full waits for more, in milliseconds. */
  readonly gatherMs: number;
  /** Room for waiting items and the batch that is being written, as `sizeOf` counts them; items beyond it are dropped. */
  readonly room: Room;
  sizeOf(item: Item): number;
  /** Called with the number of items dropped since the last call: after a batch, but every ten seconds at most while batches follow. */
  dropped(items: number): void;
}

export interface WriteBehind<Item> {
  /** Takes an item; never waits and never throws. */
  add(item: Item): void;
  /** Resolves when everything added so far is written or given up. */
  flush(): Promise<void>;
}

/** A queue that stays full may never become empty, and its losses must be known while they go on. */
const tellEveryMs = 10_000;

/** Creates a queue in front of `write`. */
export function createWriteBehind<Item>(options: WriteBehindOptions<Item>): WriteBehind<Item> {
  const { batchMax, gatherMs, room } = options;
  let queue: Item[] = [];
  let dropped = 0;
  let toldMs = -Infinity;
  let underWay: Promise<void> | undefined;
  /** Ends the wait for more items; undefined while there is no such wait. */
  let hurry: (() => void) | undefined;
  let flushing = false;

  async function gather(): Promise<void> {
    if (flushing || gatherMs === 0 || queue.length >= batchMax) return;
    await new Promise<void>((resume) => {
      const timer = setTimeout(resume, gatherMs);
      hurry = () => {
        clearTimeout(timer);
        resume();
      };
    });
    hurry = undefined;
  }

  function tell(): void {
    if (dropped === 0) return;
    options.dropped(dropped);
    dropped = 0;
    toldMs = performance.now();
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      await gather();
      const batch = queue.slice(0, batchMax);
      queue = queue.slice(batchMax);
      await options.write(batch);
      for (const item of batch) room.give(options.sizeOf(item));
      if (performance.now() - toldMs >= tellEveryMs) tell();
    }
    tell();
    underWay = undefined;
  }

  return {
    add(item) {
      if (!room.tryTake(options.sizeOf(item))) {
        dropped += 1;
        return;
      }
      queue.push(item);
      underWay ??= drain();
      if (queue.length >= batchMax) hurry?.();
    },
    async flush() {
      flushing = true;
      hurry?.();
      await underWay;
      flushing = false;
    },
  };
}
