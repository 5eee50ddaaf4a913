/**
 * Which database answers the heavy reads of people: lists, usage, exports. The one seam for that: what asks through it decides
 * nothing, and may be told what is a moment old. Everything else asks the primary. docs/scale.md "Read replicas".
 */
import { dayMs } from "../base/durations.ts";
import type { Database } from "./database.ts";
import type { Queryable } from "./queryable.ts";

export interface ReadOptions {
  /** Nothing may be missing that was committed before it is asked, such as rows beside those that were shown before. */
  readonly exact?: boolean;
  /** One snapshot for all of its statements, for up to a day. */
  readonly snapshot?: boolean;
}

export interface Reads {
  /**
   * Runs `work`, which only reads, over one database. Where that one fails it runs once more, over the primary.
   * @throws what `work` throws
   */
  read<T>(work: (database: Queryable) => Promise<T>, options?: ReadOptions): Promise<T>;
}

/** Reads of the primary, which are all where there is no replica. */
export const readsOf = (database: Database): Reads => ({
  read: (work, { snapshot = false } = {}) =>
    snapshot
      ? database.transaction(work, { isolation: "repeatable read", readOnly: true, msMax: dayMs })
      : work(database),
});
