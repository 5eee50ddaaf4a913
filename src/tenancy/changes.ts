/**
 * How a change of a row reaches every cache that holds it. The signal travels in the transaction of the change, so a
 * crash can neither lose it nor send it for nothing; the process that made the change knows before its caller does,
 * because its own signal comes back a moment after the commit, and the very next request must already fail (KEY-11).
 * The caller is answered when the other processes know too: their next request must see the change as well (T73).
 */
import { getOrMake, perObject } from "../base/made-once.ts";
import type { Database, Queryable, Signals } from "../storage/index.ts";

/** Channels of `database.signals`; the payload is the id of the row that changed. */
export type ChangeChannel = "keys" | "workspaces" | "organizations" | "providers";

/** What a change needs of a database. A transaction that several changes share has it too. */
export type ChangeDatabase = Queryable & Pick<Database, "transaction" | "signals">;

/** Where it returns a promise, a change is answered when that has ended. */
type Handler = (id: string) => unknown;

interface Changed {
  readonly channel: ChangeChannel;
  readonly id: string;
}

/** Handlers in this process, by the signals they stand beside. Weak, so that a closed database takes them along. */
const localHandlers = perObject((_signals: Signals) => new Map<ChangeChannel, Set<Handler>>());

/** What was changed within a shared transaction, announced when it is committed. */
const unannounced = new WeakMap<ChangeDatabase, Changed[]>();

const handlersOf = ({ signals }: Pick<Database, "signals">, channel: ChangeChannel) =>
  getOrMake(localHandlers(signals), channel, () => new Set());

/** Resolves when this process has handled it; within a shared transaction it is only noted. */
async function announce(database: ChangeDatabase, { channel, id }: Changed): Promise<void> {
  const waiting = unannounced.get(database);
  if (waiting !== undefined) waiting.push({ channel, id });
  else await Promise.all([...handlersOf(database, channel)].map((handler) => handler(id)));
}

/** Runs `work` as one transaction that changes one row, and announces it. Returns what `work` returns: the row as stored. */
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
  if (!unannounced.has(database)) await database.signals.settled();
  return row;
}

/**
 * Runs `work` as one transaction: every change made through what it is given is committed together, or none is, and
 * this process learns of it after the commit, before the answer. What is written beside them, such as an audit entry, stands
 * or falls with them.
 */
export async function changeTogether<Result>(
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
  if (changed.length > 0 && !unannounced.has(database)) await database.signals.settled();
  return result;
}

/**
 * Calls `handler` with the id of each changed row, whichever process changed it; for a change of this process twice.
 * Returns the function that ends it. Only while `database.signals.healthy()` is nothing missed.
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
