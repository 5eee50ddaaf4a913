/**
 * Chooses the database for the heavy reads of users: lists, usage, exports. It is the only place for that. Results of these reads decide
 * nothing, and may be a moment old. Everything else asks the primary. docs/scale.md "Read replicas".
 */
import { dayMs } from "../base/durations.ts";
import type { Database } from "./database.ts";
import type { Queryable } from "./queryable.ts";

export interface ReadOptions {
  /** The result must include all commits before the read, for example when it is compared with rows that were shown before. */
  readonly exact?: boolean;
  /** Runs all statements in one snapshot, for up to a day. */
  readonly snapshot?: boolean;
}

export interface Reads {
  /**
   * Runs `work`, which only reads, on one database. If that database fails, `work` runs once more on the primary.
   * @throws what `work` throws
   */
  read<T>(work: (database: Queryable) => Promise<T>, options?: ReadOptions): Promise<T>;
}

/** Reads the primary only, for gateways without a replica. */
export const readsOf = (database: Database): Reads => ({
  read: (work, { snapshot = false } = {}) =>
    snapshot
      ? database.transaction(work, { isolation: "repeatable read", readOnly: true, msMax: dayMs })
      : work(database),
});
