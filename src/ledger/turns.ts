/**
 * Ends and beginnings of calls take turns at the database together: a batch of each goes out as one statement. They lock the
 * same accounts, so apart they would wait for each other's commit, and each would pay for its own.
 */
import { gatherMsMax } from "./batch.ts";

export interface Turns<Reserves, Reserved, Posts, Posted> {
  /** A batch waits for its turn, and fails with the turn it was in. One batch of a kind may wait at a time. */
  reserve(batch: Reserves): Promise<Reserved>;
  post(batch: Posts): Promise<Posted>;
}

/** What one turn takes and answers; of the two kinds at least one is there. */
export interface Turn<Reserves, Posts> {
  readonly reserves: Reserves | undefined;
  readonly posts: Posts | undefined;
}

/** How much of each kind still gathers: its batch comes within moments. */
export interface Gathering {
  reserves: () => number;
  posts: () => number;
}

interface Waiting<Batch, Result> {
  readonly batch: Batch;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** A batch is alone for no longer than its mate may gather, and come to it. */
const aloneMsMax = 2 * gatherMsMax;

/** Turns of `run`, which answers for each kind it was given a batch of; one is under way at a time. */
export function createTurns<Reserves, Reserved, Posts, Posted>(
  run: (turn: Turn<Reserves, Posts>) => Promise<{ reserved: Reserved; posted: Posted }>,
  gathering: Gathering,
): Turns<Reserves, Reserved, Posts, Posted> {
  let reserve: Waiting<Reserves, Reserved> | undefined;
  let post: Waiting<Posts, Posted> | undefined;
  let isUnderWay = false;
  /** Since when a batch has been waiting for its mate. */
  let aloneSinceMs: number | undefined;

  async function take(): Promise<void> {
    const [reserves, posts] = [reserve, post];
    reserve = undefined;
    post = undefined;
    aloneSinceMs = undefined;
    isUnderWay = true;
    try {
      const { reserved, posted } = await run({ reserves: reserves?.batch, posts: posts?.batch });
      isUnderWay = false;
      reserves?.resolve(reserved);
      posts?.resolve(posted);
    } catch (error) {
      isUnderWay = false;
      reserves?.reject(error);
      posts?.reject(error);
    }
    offer();
  }

  /** A turn for both kinds costs little more than one for either: a batch waits where its mate is about to come. */
  function isComplete(): boolean {
    if (reserve !== undefined && post !== undefined) return true;
    return (post === undefined ? gathering.posts() : gathering.reserves()) === 0;
  }

  function offer(): void {
    if (isUnderWay || (reserve === undefined && post === undefined)) return;
    if (isComplete()) void take();
    else if (aloneSinceMs === undefined) {
      aloneSinceMs = performance.now();
      setImmediate(lookAgain);
    }
  }

  function lookAgain(): void {
    if (aloneSinceMs === undefined) return;
    if (isComplete() || performance.now() - aloneSinceMs > aloneMsMax) void take();
    else setImmediate(lookAgain);
  }

  return {
    reserve: (batch) =>
      new Promise((resolve, reject) => {
        reserve = { batch, resolve, reject };
        offer();
      }),
    post: (batch) =>
      new Promise((resolve, reject) => {
        post = { batch, resolve, reject };
        offer();
      }),
  };
}
