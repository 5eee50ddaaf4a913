/**
 * Sends a row's change to every cache that holds the row. The signal is part of the change's transaction, so a crash neither loses
 * it nor sends it without a change. The process that made the change notifies its own caches before it answers. The very next
 * request must already fail (KEY-11), but its own signal arrives only a moment after the commit. It answers only when the other
 * processes know too, because their next requests must see the change as well (T73).
 */
import { getOrCreate, memoizeByObject } from "../base/memoize.ts";
import type { Database, Queryable, Signals } from "../storage/index.ts";

/** Channels of `database.signals`; the payload is the id of the row that changed. */
export type ChangeChannel = "keys" | "workspaces" | "organizations" | "providers";

/** The parts of a database that a change needs. A transaction shared by several changes has them too. */
export type ChangeDatabase = Queryable & Pick<Database, "transaction" | "signals">;

/** Handles a change. If it returns a promise, the change is answered after that promise settles. */
type Handler = (id: string) => unknown;

interface Changed {
  readonly channel: ChangeChannel;
  readonly id: string;
}

/** Handlers in this process, by their database's `signals`. The map is weak, so that a closed database releases its handlers. */
const localHandlers = memoizeByObject(
  (_signals: Signals) => new Map<ChangeChannel, Set<Handler>>(),
);

/** Changes within a shared transaction, announced after its commit. */
const unannounced = new WeakMap<ChangeDatabase, Changed[]>();

const handlersOf = ({ signals }: Pick<Database, "signals">, channel: ChangeChannel) =>
  getOrCreate(localHandlers(signals), channel, () => new Set());

/** Resolves when this process has handled the change; within a shared transaction it only queues the change. */
async function announce(database: ChangeDatabase, { channel, id }: Changed): Promise<void> {
  const waiting = unannounced.get(database);
  if (waiting !== undefined) waiting.push({ channel, id });
  else await Promise.all([...handlersOf(database, channel)].map((handler) => handler(id)));
}

/** Runs `work` as one transaction that changes one row, and announces the change. Returns the row as stored. */
export async function changeRow<Row extends { readonly id: string }>(
  database: ChangeDatabase,
  channel: ChangeChannel,
  work: (tx: Queryable) => Promise<Row>,
): Promise<Row> {
  const row = await database.transaction(async (tx) => {
    const changed = await work(tx);
    await database.signals.publish(channel, changed.id, tx);
    return changed;
  });
  await announce(database, { channel, id: row.id });
  if (!unannounced.has(database)) await database.signals.confirmedEverywhere();
  return row;
}

/**
 * Runs `work` as one transaction. All changes made through its `tx`, and writes beside them such as an audit entry, are committed
 * together or not at all. This process handles the changes after the commit, before the answer.
 */
export async function changeMany<Result>(
  database: ChangeDatabase,
  work: (tx: ChangeDatabase) => Promise<Result>,
): Promise<Result> {
  const changed: Changed[] = [];
  const result = await database.transaction((tx) => {
    const shared: ChangeDatabase = {
      query: (...statement) => tx.query(...statement),
      transaction: (inner) => inner(shared),
      signals: database.signals,
    };
    unannounced.set(shared, changed);
    return work(shared);
  });
  await Promise.all(changed.map((one) => announce(database, one)));
  if (changed.length > 0 && !unannounced.has(database))
    await database.signals.confirmedEverywhere();
  return result;
}

/**
 * Calls `handler` with the id of each changed row, whichever process changed it; for a change by this process, twice. Returns the
 * unsubscribe function. Changes may be missed while `database.signals.healthy()` is false.
 */
export function subscribeChanges(
  database: Database,
  channel: ChangeChannel,
  handler: Handler,
): () => void {
  const handlers = handlersOf(database, channel).add(handler);
  const endSignals = database.signals.subscribe(channel, handler);
  return () => {
    handlers.delete(handler);
    endSignals();
  };
}
