/** Heavy reads on a replica, while it may be used. Otherwise, and if a read fails there, the primary answers. */
import { GatewayError } from "../../base/errors.ts";
import { limitConcurrency } from "../../base/concurrency-limit.ts";
import type { Queryable } from "../queryable.ts";
import { readsOf, type ReadOptions, type Reads } from "../reads.ts";
import { isAway } from "../transient.ts";
import { openConnections, readsMax } from "./connections.ts";
import { readPosition, positionAt } from "./position.ts";
import { problemOf, waitMs, Watch, type Problem, type ReplicaOptions } from "./watch.ts";

export interface Replica extends Reads {
  readonly state: {
    /** True if heavy reads go to the replica. */
    readonly isUsed: boolean;
    /** The greatest possible age of its state, in milliseconds. */
    readonly lagMs: number;
    /** The number of reads that each has answered. */
    readonly answered: { readonly replica: number; readonly primary: number };
  };
  /** Resolves after the first check of the replica. */
  readonly firstCheck: Promise<void>;
  close(): Promise<void>;
}

type Work<T> = (database: Queryable) => Promise<T>;

/** The result of a read on the replica. `problem`: the replica's fault if the primary can answer the same read. */
type Outcome<T> =
  | { readonly isAnswered: true; readonly value: T }
  | { readonly isAnswered: false; readonly problem?: Problem };

async function answer<T>(
  replica: Queryable,
  work: Work<T>,
  { snapshot = false }: ReadOptions,
): Promise<T> {
  if (!snapshot) return work(replica);
  await replica.query("begin isolation level repeatable read read only");
  const value = await work(replica);
  await replica.query("commit");
  return value;
}

/** Starts to check the replica; until it is known to be good, the primary answers. */
export function openReplica(options: ReplicaOptions): Replica {
  const connections = openConnections(options.url, options.log);
  const watch = new Watch(options, connections);
  const primary = readsOf(options.primary);
  const inTurn = limitConcurrency(readsMax);
  const answered = { replica: 0, primary: 0 };

  function failed(error: unknown): Outcome<never> {
    if (error instanceof GatewayError) {
      // The object may have been created a moment ago.
      if (error.code === "not_found") return { isAnswered: false };
      throw error;
    }
    const problem = problemOf("failed", error);
    if (!isAway(error)) return { isAnswered: false, problem };
    watch.leave(problem);
    return { isAnswered: false };
  }

  /** Reads from the replica. Compares each connection again, because one host name may have several servers. */
  async function ask<T>(
    work: Work<T>,
    { exact = false, ...more }: ReadOptions,
  ): Promise<Outcome<T>> {
    if (!watch.isUsed) return { isAnswered: false };
    const wanted = await readPosition(options.primary);
    try {
      return await connections.use(async (replica) => {
        // Do not wait for a replica that is known to be behind.
        const standing = await positionAt(replica, wanted.lsn, watch.isNear ? waitMs : 0);
        const problem = watch.problemOf(wanted, standing);
        if (problem !== undefined) watch.leave(problem);
        if (problem !== undefined || (exact && standing.lsn < wanted.lsn))
          return { isAnswered: false };
        return { isAnswered: true, value: await answer(replica, work, more) };
      });
    } catch (error) {
      return failed(error);
    }
  }

  let closed: Promise<void> | undefined;
  return {
    get state() {
      const { isUsed, lagMs } = watch;
      return { isUsed, lagMs, answered: { ...answered } };
    },
    firstCheck: watch.firstCheck,
    async read(work, how = {}) {
      const asked = await inTurn(() => ask(work, how));
      if (asked.isAnswered) {
        answered.replica += 1;
        return asked.value;
      }
      answered.primary += 1;
      const value = await primary.read(work, how);
      // The primary could answer, so the read itself was not at fault.
      if (asked.problem !== undefined) watch.leave(asked.problem);
      return value;
    },
    close: () => (closed ??= watch.end().then(() => connections.close())),
  };
}
