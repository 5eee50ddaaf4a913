/**
 * Ends and beginnings of calls take turns at the database together: a batch of each goes out as one statement. They lock the
 * same accounts, so apart they would wait for each other's commit, and each would pay for its own.
 */

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

interface Waiting<Batch, Result> {
  readonly batch: Batch;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Turns of `run`, which answers for each kind it was given a batch of; one is under way at a time. */
export function createTurns<Reserves, Reserved, Posts, Posted>(
  run: (turn: Turn<Reserves, Posts>) => Promise<{ reserved: Reserved; posted: Posted }>,
): Turns<Reserves, Reserved, Posts, Posted> {
  let reserve: Waiting<Reserves, Reserved> | undefined;
  let post: Waiting<Posts, Posted> | undefined;
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    do {
      // Both kinds have just got their results from the turn before: the next batch of each is about to come.
      await new Promise((resume) => setImmediate(resume));
      const [reserves, posts] = [reserve, post];
      reserve = undefined;
      post = undefined;
      try {
        const { reserved, posted } = await run({ reserves: reserves?.batch, posts: posts?.batch });
        reserves?.resolve(reserved);
        posts?.resolve(posted);
      } catch (error) {
        reserves?.reject(error);
        posts?.reject(error);
      }
    } while (reserve || post);
    working = undefined;
  }

  return {
    reserve: (batch) =>
      new Promise((resolve, reject) => {
        reserve = { batch, resolve, reject };
        working ??= work();
      }),
    post: (batch) =>
      new Promise((resolve, reject) => {
        post = { batch, resolve, reject };
        working ??= work();
      }),
  };
}
