/** The lists of models that were taken over, and which one is in force; a change of that is a signal. docs/models.md. */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import type { Database } from "./database.ts";
import type { Queryable } from "./queryable.ts";

/** The list that is shipped, which is in no table. */
export const shippedVersion = 0;

export interface CatalogListRow {
  readonly version: number;
  readonly createdAt: Date;
  /** Where it came from: an address, or a file's name. */
  readonly source: string;
  /** How many models it has. */
  readonly models: number;
}

/** Of `database.signals`: another list is in force; the payload is its version. */
const channel = "catalog_list";

/** What was taken over, newest first. */
export async function catalogLists(database: Queryable): Promise<CatalogListRow[]> {
  const rows = await database.query<SnakeCased<CatalogListRow>>(
    "select version, created_at, source, models from catalog_lists order by version desc",
    [],
  );
  return rows.map(camelCased);
}

/** The version in force. */
export async function catalogVersion(database: Queryable): Promise<number> {
  const [row] = await database.query<{ version: number }>(
    "select version from catalog_list_in_force",
    [],
  );
  return row?.version ?? shippedVersion;
}

/** The text of the list in force; undefined for the shipped one. */
export async function catalogList(database: Queryable): Promise<string | undefined> {
  const [row] = await database.query<{ list: string }>(
    "select list from catalog_lists join catalog_list_in_force using (version)",
    [],
  );
  return row?.list;
}

/**
 * So many of the newest lists are kept, a megabyte of text and 170 kB of the disk each, and the one in force. Nothing else refers to
 * a list: what calls cost is in the ledger.
 */
const keptMax = 100;

/** Adds a list and puts it in force, within the caller's transaction; the oldest go. Two at once wait for each other. */
export async function addCatalogList(
  tx: Queryable,
  signals: Database["signals"],
  input: Omit<CatalogListRow, "version"> & { readonly list: string },
): Promise<number> {
  await tx.query("lock table catalog_lists in exclusive mode", []);
  const [row] = await tx.query<{ version: number }>(
    `insert into catalog_lists (version, created_at, source, models, list)
     select coalesce(max(version), 0) + 1, $1, $2, $3, $4 from catalog_lists returning version`,
    [input.createdAt, input.source, input.models, input.list],
  );
  const { version } = row!;
  // Before the new one is in force: the one that it replaces can be gone back to.
  await tx.query(
    `delete from catalog_lists where version <= $1
       and version not in (select version from catalog_list_in_force)`,
    [version - keptMax],
  );
  await useCatalogList(tx, signals, version);
  return version;
}

/** Puts a version in force, within the caller's transaction; false where there is none. */
export async function useCatalogList(
  tx: Queryable,
  signals: Database["signals"],
  version: number,
): Promise<boolean> {
  // It stays until this is committed: one that is added meanwhile waits, and then knows that it is in force.
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

/** Calls `handler` whenever another list may be in force; returns the function that ends it. */
export function onCatalogList(database: Database, handler: () => void): () => void {
  const ends = [
    database.signals.subscribe(channel, handler),
    // What was missed meanwhile is unknown.
    database.signals.onReconnect(handler),
  ];
  return () => {
    for (const end of ends) end();
  };
}
