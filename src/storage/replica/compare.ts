/** Compares a replica with its primary once, for `tollgate doctor`. */
import { createLog } from "../../base/log.ts";
import { schemaState } from "../migrate.ts";
import type { Queryable } from "../queryable.ts";
import { openConnections } from "./connections.ts";
import { aheadProblem, replicaProblem, readPosition, positionAt } from "./position.ts";

export interface Comparison {
  /** The reason that the replica cannot be used; absent if it can. */
  readonly problem?: string;
  /** Milliseconds until the replica had what the primary had at the start; undefined if it took longer than the caller waits. */
  readonly lagMs?: number;
  /** Bytes of the write-ahead log that it must still replay. */
  readonly bytesBehind: bigint;
  /** Migrations of this version that it lacks. */
  readonly missing: readonly string[];
}

/** Compares it with the primary; waits up to `waitMs` until it has what the primary has. @throws what connecting throws, SchemaError */
export async function compareReplica(
  primary: Queryable,
  url: string,
  waitMs: number,
): Promise<Comparison> {
  const connections = openConnections(url, createLog("silent"));
  try {
    const beganMs = performance.now();
    const before = await readPosition(primary);
    return await connections.use(async (replica) => {
      const standing = await positionAt(replica, before.lsn, waitMs);
      const lagMs = performance.now() - beganMs;
      const after = await readPosition(primary);
      const problem =
        replicaProblem(before, standing) ?? (standing.lsn > after.lsn ? aheadProblem : undefined);
      if (problem !== undefined) return { problem, bytesBehind: 0n, missing: [] };
      const { missing } = await schemaState(replica);
      if (standing.lsn >= before.lsn) return { lagMs, bytesBehind: 0n, missing };
      return { bytesBehind: before.lsn - standing.lsn, missing };
    });
  } finally {
    await connections.close();
  }
}
