/**
 * Group commit: what arrives while a batch is under way goes out together as the next one.
 * One batch of a kind is under way at a time; two at once were measured slower than one. The next leaves before those of the one
 * that came back go on: they would keep the event loop from it.
 */

export interface BatchOptions<Item, Result> {
  /** Items a batch takes at most, when so many are waiting. */
  sizeMax(waiting: number): number;
  /** Does the work; answers with one result per item, in order. All of it or nothing takes effect. */
  run(items: readonly Item[]): Promise<readonly Result[]>;
  /** True where a failure lies with the database and not with an item: every member then fails with it. */
  isShared(error: unknown): boolean;
}

/** A turn of the event loop that took less had nothing else to do. */
const idleTickMsMax = 0.2;
/** How long a batch may gather, in milliseconds. */
const gatherMsMax = 4;

export interface Batcher<Item, Result> {
  /** Resolves with the item's own result, or rejects with what its batch failed with. */
  add(item: Item): Promise<Result>;
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** A batch that is under way. */
interface Begun<Item, Result> {
  readonly batch: readonly Waiting<Item, Result>[];
  readonly results: Promise<readonly Result[]>;
}

/** Tells a batch of its failure. Where one member is at fault, only that one fails, whoever shared its batch: it is tried in halves. */
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

/** A batcher over `run`. */
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
      // What has gathered meanwhile leaves first: the database works on it while these go on.
      const next = queue.length > 0 && isEnough() ? begin() : undefined;
      for (const [index, waiting] of batch.entries()) waiting.resolve(known[index]!);
      return next;
    } catch (error) {
      await fail(options, batch, error);
      return undefined;
    }
  }

  /** Half of what a batch takes need not wait for the other half. */
  const isEnough = (): boolean => queue.length * 2 >= options.sizeMax(queue.length);

  /** Lets the batch grow while the event loop is busy: then nobody's answer comes sooner by a batch that leaves at once. */
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
