/** The imported lists of models, and the one in force; a signal announces a change of that. docs/models.md. */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import type { Database } from "./database.ts";
import type { Queryable } from "./queryable.ts";

/** The version of the shipped list, which is in no table. */
export const shippedVersion = 0;

export interface CatalogListRow {
  readonly version: number;
  readonly createdAt: Date;
  /** Its origin: an address, or a file's name. */
  readonly source: string;
  /** The number of its models. */
  readonly models: number;
}

/** The channel of `database.signals` for a change of the list in force; the payload is its version. */
const channel = "catalog_list";

/** Returns the imported lists, newest first. */
export async function catalogLists(database: Queryable): Promise<CatalogListRow[]> {
  const rows = await database.query<SnakeCased<CatalogListRow>>(
    "select version, created_at, source, models from catalog_lists order by version desc",
    [],
  );
  return rows.map(camelCased);
}

/** Returns the version in force. */
export async function catalogVersion(database: Queryable): Promise<number> {
  const [row] = await database.query<{ version: number }>(
    "select version from catalog_list_in_force",
    [],
  );
  return row?.version ?? shippedVersion;
}

/** Returns the text of the list in force; undefined for the shipped one. */
export async function catalogList(database: Queryable): Promise<string | undefined> {
  const [row] = await database.query<{ list: string }>(
    "select list from catalog_lists join catalog_list_in_force using (version)",
    [],
  );
  return row?.list;
}

/**
 * The newest lists that are kept, besides the one in force: a megabyte of text each, 170 kB on disk. Nothing else refers to a list: the
 * ledger has the costs of calls.
 */
const keptMax = 100;

/** Locks the lists, in the caller's transaction: concurrent changes wait, so that the list in force stays the same until the commit. */
export async function lockCatalogLists(tx: Queryable): Promise<void> {
  await tx.query("lock table catalog_lists in exclusive mode", []);
}

/** Adds a list and puts it in force, in the caller's transaction; deletes the oldest. Concurrent calls wait for each other. */
export async function addCatalogList(
  tx: Queryable,
  signals: Database["signals"],
  input: Omit<CatalogListRow, "version"> & { readonly list: string },
): Promise<number> {
  await lockCatalogLists(tx);
  const [row] = await tx.query<{ version: number }>(
    `insert into catalog_lists (version, created_at, source, models, list)
     select coalesce(max(version), 0) + 1, $1, $2, $3, $4 from catalog_lists returning version`,
    [input.createdAt, input.source, input.models, input.list],
  );
  const { version } = row!;
  // Deletes before the new list is in force, so that the list it replaces is kept for a rollback.
  await tx.query(
    `delete from catalog_lists where version <= $1
       and version not in (select version from catalog_list_in_force)`,
    [version - keptMax],
  );
  await useCatalogList(tx, signals, version);
  return version;
}

/** Puts a version in force, in the caller's transaction; returns false if it does not exist. */
export async function useCatalogList(
  tx: Queryable,
  signals: Database["signals"],
  version: number,
): Promise<boolean> {
  // The lock keeps the row until the commit: a list that is added meanwhile waits, and then sees this one in force.
  const list = "select version from catalog_lists where version = $1 for key share";
  if (version !== shippedVersion && (await tx.query(list, [version])).length === 0) return false;
  await tx.query(
    `insert into catalog_list_in_force (version) values ($1)
     on conflict (only_row) do update set version = excluded.version`,
    [version],
  );
  await signals.publish(channel, String(version), tx);
  return true;
}

/**
 * Calls `handler` whenever another list may be in force; returns a function that unsubscribes. The change is confirmed once the promise
 * that `handler` returns has settled.
 */
export function onCatalogList(database: Database, handler: () => Promise<void>): () => void {
  const ends = [database.signals.subscribe(channel, handler), database.signals.onMissed(handler)];
  return () => {
    for (const end of ends) end();
  };
}
