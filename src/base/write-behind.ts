/**
 * Write-behind: what no caller waits for is gathered for a moment and written in batches, one after the other. What waits is
 * bounded, so that a slow database costs items and not memory.
 */

/** Room for what waits. */
export interface Room {
  /** Takes so much of it; false where there is less. */
  tryTake(size: number): boolean;
  give(size: number): void;
}

/** Room for so much in all. */
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
  /** Items of a batch at most. */
  readonly batchMax: number;
  /** How long a batch that is not full waits for more, in milliseconds. */
  readonly gatherMs: number;
  /** For what waits and for the batch that is being written, as `sizeOf` counts it; what is beyond that is dropped. */
  readonly room: Room;
  sizeOf(item: Item): number;
  /** Hears how many were dropped, when the rest is written. */
  dropped(items: number): void;
}

export interface WriteBehind<Item> {
  /** Takes an item; never waits and never throws. */
  add(item: Item): void;
  /** Resolves when everything added so far is written or given up. */
  flush(): Promise<void>;
}

/** A queue in front of `write`. */
export function createWriteBehind<Item>(options: WriteBehindOptions<Item>): WriteBehind<Item> {
  const { batchMax, gatherMs, room } = options;
  let queue: Item[] = [];
  let dropped = 0;
  let underWay: Promise<void> | undefined;
  /** Ends the waiting for more; undefined while nothing waits. */
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

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      await gather();
      const batch = queue.slice(0, batchMax);
      queue = queue.slice(batchMax);
      await options.write(batch);
      for (const item of batch) room.give(options.sizeOf(item));
    }
    if (dropped > 0) options.dropped(dropped);
    dropped = 0;
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
