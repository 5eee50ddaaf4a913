/** Heavy reads on a replica, while it may be read. Otherwise, and where a read fails there, the primary answers. */
import { GatewayError } from "../../base/errors.ts";
import { inTurns } from "../../base/in-turn.ts";
import type { Queryable } from "../queryable.ts";
import { readsOf, type ReadOptions, type Reads } from "../reads.ts";
import { isTransient } from "../transient.ts";
import { openConnections, readsMax } from "./connections.ts";
import { readStanding, standingAt } from "./standing.ts";
import { problemOf, waitMs, Watch, type Problem, type ReplicaOptions } from "./watch.ts";

export interface Replica extends Reads {
  readonly state: {
    /** Heavy reads go there. */
    readonly isUsed: boolean;
    /** How old its state is at most, in milliseconds. */
    readonly lagMs: number;
    /** How many reads each has answered. */
    readonly answered: { readonly replica: number; readonly primary: number };
  };
  /** Resolves when it was looked at for the first time. */
  readonly looked: Promise<void>;
  close(): Promise<void>;
}

type Work<T> = (database: Queryable) => Promise<T>;

/** What became of a question; `problem`: why it failed, should the primary be able to answer it. */
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

/** Begins to look at it; until it is known to be good, the primary answers. */
export function openReplica(options: ReplicaOptions): Replica {
  const connections = openConnections(options.url, options.log);
  const watch = new Watch(options, connections);
  const primary = readsOf(options.primary);
  const inTurn = inTurns(readsMax);
  const answered = { replica: 0, primary: 0 };

  function failed(error: unknown): Outcome<never> {
    if (error instanceof GatewayError) {
      // It may have been made a moment ago.
      if (error.code === "not_found") return { isAnswered: false };
      throw error;
    }
    const problem = problemOf("failed", error);
    if (!isTransient(error)) return { isAnswered: false, problem };
    watch.leave(problem);
    return { isAnswered: false };
  }

  /** Asks the replica. Each connection is compared anew: behind one name there may be several servers. */
  async function ask<T>(
    work: Work<T>,
    { exact = false, ...more }: ReadOptions,
  ): Promise<Outcome<T>> {
    if (!watch.isUsed) return { isAnswered: false };
    const wanted = await readStanding(options.primary);
    try {
      return await connections.use(async (replica) => {
        // Of one that is known to be behind, nobody waits for more.
        const standing = await standingAt(replica, wanted.lsn, watch.isNear ? waitMs : 0);
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
    looked: watch.looked,
    async read(work, how = {}) {
      const asked = await inTurn(() => ask(work, how));
      if (asked.isAnswered) {
        answered.replica += 1;
        return asked.value;
      }
      answered.primary += 1;
      const value = await primary.read(work, how);
      // The primary could answer, so it was not the question.
      if (asked.problem !== undefined) watch.leave(asked.problem);
      return value;
    },
    close: () => (closed ??= watch.end().then(() => connections.close())),
  };
}
