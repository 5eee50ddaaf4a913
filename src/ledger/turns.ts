/**
 * Posts and reservations take turns at the database together: a batch of each goes out as one statement. They lock the same
 * accounts, so apart they would wait for each other's commit, and each would pay for its own.
 */
import type { Clock } from "../base/clock.ts";
import type { Queryable } from "../storage/index.ts";
import { postBatch, reserveBatch, turnBatch } from "./statements.ts";
import type { PostInput, PostResult, ReserveInput, ReserveResult } from "./types.ts";

export interface Turns {
  /** A batch waits for its turn, and fails with the turn it was in. One batch of a kind may wait at a time. */
  reserve(items: readonly ReserveInput[]): Promise<ReserveResult[]>;
  post(items: readonly PostInput[]): Promise<PostResult[]>;
}

interface Waiting<Input, Result> {
  readonly items: readonly Input[];
  resolve(results: Result[]): void;
  reject(error: unknown): void;
}

/** Turns at `database`; one is under way at a time. */
export function createTurns(database: Queryable, clock: Clock): Turns {
  let reserve: Waiting<ReserveInput, ReserveResult> | undefined;
  let post: Waiting<PostInput, PostResult> | undefined;
  let working: Promise<void> | undefined;

  async function turn(
    reserves: Waiting<ReserveInput, ReserveResult> | undefined,
    posts: Waiting<PostInput, PostResult> | undefined,
  ): Promise<void> {
    const nowMs = clock.now();
    try {
      if (reserves && posts) {
        const batches = { reserves: reserves.items, posts: posts.items };
        const { reserved, posted } = await turnBatch(database, batches, nowMs);
        reserves.resolve(reserved);
        posts.resolve(posted);
      } else {
        reserves?.resolve(await reserveBatch(database, reserves.items, nowMs));
        posts?.resolve(await postBatch(database, posts.items, nowMs));
      }
    } catch (error) {
      reserves?.reject(error);
      posts?.reject(error);
    }
  }

  async function work(): Promise<void> {
    do {
      // Both kinds have just got their results from the turn before: the next batch of each is about to come.
      await new Promise((resume) => setImmediate(resume));
      const [reserves, posts] = [reserve, post];
      reserve = undefined;
      post = undefined;
      await turn(reserves, posts);
    } while (reserve || post);
    working = undefined;
  }

  return {
    reserve: (items) =>
      new Promise((resolve, reject) => {
        reserve = { items, resolve, reject };
        working ??= work();
      }),
    post: (items) =>
      new Promise((resolve, reject) => {
        post = { items, resolve, reject };
        working ??= work();
      }),
  };
}
