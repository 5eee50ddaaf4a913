/**
 * Records when each key was last used: at most once a minute per key, many keys in one statement, never while a request waits. KEY-16
 * (`last_used_at`). A crash or an outage may lose a few of these values.
 */
import { minuteMs } from "../base/durations.ts";
import type { Log } from "../base/log.ts";
import { createWriteBehind, roomFor } from "../base/write-behind.ts";
import type { Queryable } from "../storage/index.ts";

export interface LastUsed {
  touch(workspaceId: string, keyId: string, nowMs: number): void;
  /** Writes the queued values. Never rejects: a failure is logged and the values are lost. */
  flush(): Promise<void>;
}

interface Use {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly atMs: number;
}

const flushDelayMs = 1_000;

/**
 * Rows locked by another transaction are skipped, not waited for. This statement locks many rows in no fixed order: it must neither
 * deadlock with another gateway's nor delay a change of a key.
 */
const statement = `
  with seen as (
    select * from unnest($1::text[], $2::text[], $3::timestamptz[]) as s (workspace_id, id, at)
  ), due as (
    select k.workspace_id, k.id, s.at from api_keys k
    join seen s on s.workspace_id = k.workspace_id and s.id = k.id
    where k.last_used_at is null or k.last_used_at <= s.at - interval '1 minute'
    for update of k skip locked
  )
  update api_keys k set last_used_at = due.at from due
  where k.workspace_id = due.workspace_id and k.id = due.id`;

/** Creates the recorder of key uses, about one a minute per key. Failed writes are logged, never thrown. */
export function createLastUsed(database: Queryable, log: Pick<Log, "warn">): LastUsed {
  /** Keys used within about the last minute, with the time in ms. */
  const recent = new Map<string, number>();

  async function write(batch: readonly Use[]): Promise<void> {
    const latestMs = batch.at(-1)!.atMs;
    for (const [keyId, atMs] of recent) {
      if (Math.abs(latestMs - atMs) >= minuteMs) recent.delete(keyId);
    }
    try {
      await database.query(statement, [
        batch.map((use) => use.workspaceId),
        batch.map((use) => use.keyId),
        batch.map((use) => new Date(use.atMs).toISOString()),
      ]);
    } catch (error) {
      log.warn({ err: error, keys: batch.length }, "last_used_at was not written");
    }
  }

  const queue = createWriteBehind<Use>({
    write,
    batchMax: Infinity,
    gatherMs: flushDelayMs,
    // Unbounded: the queue holds at most one entry per key.
    room: roomFor(Infinity),
    sizeOf: () => 1,
    dropped: () => undefined,
  });
  return {
    touch(workspaceId, keyId, nowMs) {
      const last = recent.get(keyId);
      if (last !== undefined && Math.abs(nowMs - last) < minuteMs) return;
      recent.set(keyId, nowMs);
      queue.add({ workspaceId, keyId, atMs: nowMs });
    },
    flush: () => queue.flush(),
  };
}
