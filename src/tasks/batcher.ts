/**
 * Group commit: items that arrive while a batch is in flight go out together in the next one.
 * One batch of a kind is in flight at a time; two at once were measured slower than one. The next batch leaves before the results of the
 * last one are resolved, because the work that these start would delay it.
 */

export interface BatchOptions<Item, Result> {
  /** The most items of a batch, when `waiting` items wait. */
  sizeMax(waiting: number): number;
  /** Processes a batch; resolves with one result per item, in order. It takes effect as a whole or not at all. */
  run(items: readonly Item[]): Promise<readonly Result[]>;
  /** True if the database caused a failure and no item did: every item of the batch then fails with it. */
  isShared(error: unknown): boolean;
}

/** If a turn of the event loop took less, it had nothing else to do. */
const idleTickMsMax = 0.2;
/** The longest that a batch may gather, in milliseconds. */
const gatherMsMax = 4;

export interface Batcher<Item, Result> {
  /** Resolves with the item's own result, or rejects with the error of its batch. */
  add(item: Item): Promise<Result>;
  /** Resolves when nothing is waiting or in flight. */
  idle(): Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** A batch in flight. */
interface Begun<Item, Result> {
  readonly batch: readonly Waiting<Item, Result>[];
  readonly results: Promise<readonly Result[]>;
}

/** Rejects a failed batch. If one item may be at fault, retries in halves, so that only that item fails. */
async function fail<Item, Result>(
  options: BatchOptions<Item, Result>,
  batch: readonly Waiting<Item, Result>[],
  error: unknown,
): Promise<void> {
  if (batch.length === 1 || options.isShared(error)) {
    for (const waiting of batch) waiting.reject(error);
    return;
  }
  const half = batch.length >> 1;
  for (const part of [batch.slice(0, half), batch.slice(half)]) {
    try {
      const results = await options.run(part.map((waiting) => waiting.item));
      for (const [index, waiting] of part.entries()) waiting.resolve(results[index]!);
    } catch (again) {
      await fail(options, part, again);
    }
  }
}

/** Creates a batcher over `run`. */
export function createBatcher<Item, Result>(
  options: BatchOptions<Item, Result>,
): Batcher<Item, Result> {
  const queue: Waiting<Item, Result>[] = [];
  let working: Promise<void> | undefined;

  function begin(): Begun<Item, Result> {
    const batch = queue.splice(0, options.sizeMax(queue.length));
    return { batch, results: options.run(batch.map((waiting) => waiting.item)) };
  }

  async function settle({
    batch,
    results,
  }: Begun<Item, Result>): Promise<Begun<Item, Result> | undefined> {
    try {
      const known = await results;
      if (known.length !== batch.length) throw new Error("a batch lost results");
      // Send the items gathered meanwhile before resolving these results, so that the database works in the meantime.
      const next = queue.length > 0 && isEnough() ? begin() : undefined;
      for (const [index, waiting] of batch.entries()) waiting.resolve(known[index]!);
      return next;
    } catch (error) {
      await fail(options, batch, error);
      return undefined;
    }
  }

  /** True if half a batch has gathered: it need not wait for the other half. */
  const isEnough = (): boolean => queue.length * 2 >= options.sizeMax(queue.length);

  /** Lets the batch grow while the event loop is busy: then leaving at once would bring no answer sooner. */
  async function gather(): Promise<void> {
    const begunMs = performance.now();
    for (let beforeMs = begunMs; ;) {
      const waiting = queue.length;
      await new Promise((resume) => setImmediate(resume));
      const nowMs = performance.now();
      const idle = queue.length === waiting && nowMs - beforeMs < idleTickMsMax;
      if (idle || nowMs - begunMs >= gatherMsMax || isEnough()) return;
      beforeMs = nowMs;
    }
  }

  async function work(): Promise<void> {
    let next: Begun<Item, Result> | undefined;
    while (next !== undefined || queue.length > 0) {
      if (next === undefined) await gather();
      next = await settle(next ?? begin());
    }
    working = undefined;
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        working ??= work();
      }),
    async idle() {
      await working;
    },
  };
}
