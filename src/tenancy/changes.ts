/**
 * How a change of a row reaches every cache that holds it. The signal travels in the transaction of the change, so a
 * crash can neither lose it nor send it for nothing; the process that made the change knows before its caller does,
 * because its own signal comes back a moment after the commit, and the very next request must already fail (KEY-11).
 */
import type { Database, Queryable, Signals } from "../storage/index.ts";

/** Channels of `database.signals`; the payload is the id of the row that changed. */
export type ChangeChannel = "keys" | "workspaces" | "organizations";

type Handler = (id: string) => void;

/** Handlers in this process, by the signals they stand beside. Weak, so that a closed database takes them along. */
const localHandlers = new WeakMap<Signals, Map<ChangeChannel, Set<Handler>>>();

function handlersOf({ signals }: Database, channel: ChangeChannel): Set<Handler> {
  const channels = localHandlers.get(signals) ?? new Map<ChangeChannel, Set<Handler>>();
  localHandlers.set(signals, channels);
  const handlers = channels.get(channel) ?? new Set<Handler>();
  channels.set(channel, handlers);
  return handlers;
}

/** Runs `work` as one transaction that changes one row, and tells everyone. Returns what `work` returns: the row as stored. */
export async function changeRow<Row extends { readonly id: string }>(
  database: Database,
  channel: ChangeChannel,
  work: (tx: Queryable) => Promise<Row>,
): Promise<Row> {
  const row = await database.transaction(async (tx) => {
    const changed = await work(tx);
    await database.signals.publish(channel, changed.id, tx);
    return changed;
  });
  for (const handler of handlersOf(database, channel)) handler(row.id);
  return row;
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
