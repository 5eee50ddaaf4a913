/** Pages of a workspace's ledger entries. docs/management.md. */
import { camelCased, type SnakeCased } from "../../base/casing.ts";
import { entryId } from "../../ledger/index.ts";
import type { Queryable } from "../../storage/index.ts";
import { invalidCursor } from "../../tenancy/index.ts";

export interface Entry {
  readonly id: string;
  readonly kind: "credit" | "charge" | "void" | "expire";
  readonly amountNano: bigint;
  readonly heldNano: bigint;
  /** Credits minus charges after this entry. */
  readonly balanceAfterNano: bigint;
  readonly reference: string;
  readonly keyId: string | null;
  readonly memberId: string | null;
  readonly note: string | null;
  readonly createdAt: Date;
}

/** Filters of the entries of a workspace; absent: any. */
interface EntriesPage {
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  readonly limit: number;
  readonly kind?: Entry["kind"] | undefined;
  readonly keyId?: string | undefined;
  readonly memberId?: string | undefined;
  /** Any of these. */
  readonly references?: readonly string[] | undefined;
  /** Included. */
  readonly from?: Date | undefined;
  /** Not included. */
  readonly to?: Date | undefined;
}

interface EntryPage {
  /** Newest first. */
  readonly entries: Entry[];
  /** Cursor of the next page; null on the last. */
  readonly nextCursor: string | null;
}

type EntryRow = SnakeCased<Omit<Entry, "id">> & { readonly entry: bigint };

const toEntry = ({ entry, ...row }: EntryRow): Entry => ({
  id: entryId(entry),
  ...camelCased(row),
});

/** The most entries that a page with rare filters scans. */
const scannedRowsMax = 50_000;
const entryColumns =
  "entry, kind, amount_nano, held_nano, balance_after_nano, reference, key_id, member_id, note, created_at";

/** The entry that a cursor names. @throws GatewayError `invalid_value` */
function entryOf(cursor: string): bigint {
  if (!/^\d{1,18}$/.test(cursor)) throw invalidCursor();
  return BigInt(cursor);
}

/** SQL for a section of the ledger: newest first, before the cursor, within the period. */
function pieceSql(
  workspaceId: string,
  page: EntriesPage,
  bind: (value: unknown) => string,
): string {
  const where = [`workspace_id = ${bind(workspaceId)}`, "entry > 0"];
  if (page.cursor !== undefined) where.push(`entry < ${bind(entryOf(page.cursor))}::bigint`);
  if (page.from !== undefined) where.push(`created_at >= ${bind(page.from)}::timestamptz`);
  if (page.to !== undefined) where.push(`created_at < ${bind(page.to)}::timestamptz`);
  if (page.references !== undefined)
    where.push(`reference = any(${bind(page.references)}::text[])`);
  return `select ${entryColumns} from ledger_entries where ${where.join(" and ")} order by entry desc limit ${scannedRowsMax}`;
}

/** The same page with a cursor: its statements look at the same entries, whatever is charged in between. */
async function fromNewest(
  database: Queryable,
  workspaceId: string,
  page: EntriesPage,
): Promise<EntriesPage> {
  if (page.cursor !== undefined) return page;
  const [newest] = await database.query<{ next: bigint | null }>(
    "select max(entry) + 1 as next from ledger_entries where workspace_id = $1 and entry > 0",
    [workspaceId],
  );
  return { ...page, cursor: String(newest?.next ?? 0) };
}

/**
 * Returns a page of a workspace's entries, newest first. With rare filters, a page may have fewer than `limit` entries and still a
 * cursor, from which the search continues. @throws GatewayError `invalid_value` (cursor)
 */
export async function readEntries(
  database: Queryable,
  workspaceId: string,
  { kind, keyId, memberId, ...asked }: EntriesPage,
): Promise<EntryPage> {
  const filters = Object.entries({ kind, key_id: keyId, member_id: memberId }).filter(
    ([, value]) => value !== undefined,
  );
  const isFiltered = filters.length > 0;
  const page = isFiltered ? await fromNewest(database, workspaceId, asked) : asked;
  const params: unknown[] = [];
  const bind = (value: unknown): string => `$${params.push(value)}`;
  const piece = pieceSql(workspaceId, page, bind);
  const looked = [...params];
  const where = filters.map(([column, value]) => `x.${column} = ${bind(value)}`);
  const rows = await database.query<EntryRow>(
    `select x.* from (${piece}) x where ${["true", ...where].join(" and ")} order by x.entry desc limit ${bind(page.limit + 1)}`,
    params,
  );
  const entries = rows.slice(0, page.limit).map(toEntry);
  if (rows.length > page.limit) return { entries, nextCursor: String(rows[page.limit - 1]!.entry) };
  if (!isFiltered) return { entries, nextCursor: null };
  const [end] = await database.query<{ n: bigint; last: bigint | null }>(
    `select count(*) as n, min(x.entry) as last from (${piece}) x`,
    looked,
  );
  const more = end !== undefined && end.n >= BigInt(scannedRowsMax);
  return { entries, nextCursor: more ? String(end.last) : null };
}
