/** Reading the ledger: balance, spend, entries. docs/management.md. */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import type { Queryable } from "../storage/index.ts";
import { resetsAt, type Layer } from "./periods.ts";
import type { Balance, EntriesPage, Entry, EntryPage, Spend } from "./types.ts";

/** The account of a workspace; undefined where there is no such workspace. */
export async function readBalance(
  database: Queryable,
  workspaceId: string,
): Promise<Balance | undefined> {
  const [row] = await database.query<{
    credits: bigint;
    charged: bigint;
    held: bigint;
    line: bigint | null;
  }>(
    `select credits_nano as credits, charged_nano as charged, held_nano as held, credit_line_nano as line
     from ledger_accounts a join workspaces w on w.id = a.workspace_id where a.workspace_id = $1`,
    [workspaceId],
  );
  if (row === undefined) return undefined;
  const { credits, charged, held, line } = row;
  return {
    creditsNano: credits,
    chargedNano: charged,
    heldNano: held,
    creditLineNano: line,
    availableNano: credits + (line ?? 0n) - charged - held,
  };
}

interface SpendRow {
  readonly total: bigint | null;
  readonly monthly: bigint;
  readonly weekly: bigint;
  readonly daily: bigint;
  readonly held: bigint;
  readonly at: Date;
}

/** What `id` of `layer` has been charged by now, per window; zeros where nothing was ever charged. */
export async function readSpend(
  database: Queryable,
  workspaceId: string,
  { layer, id }: { readonly layer: Layer; readonly id: string },
): Promise<Spend> {
  const [row] = await database.query<SpendRow>(
    `select c.total_nano as total,
       case when c.last_day >= date_trunc('month', d.today)::date then c.month_nano else 0 end as monthly,
       case when c.last_day >= date_trunc('week', d.today)::date then c.week_nano else 0 end as weekly,
       case when c.last_day >= d.today::date then c.day_nano else 0 end as daily,
       (select coalesce(sum(h.amount_nano), 0)::bigint from (
          select member_id, key_id, amount_nano from ledger_holds where workspace_id = $1
          union all
          select member_id, key_id, amount_nano from ledger_allowances where workspace_id = $1) h
        where case $2 when 'member' then h.member_id = $3 when 'key' then h.key_id = $3 else true end) as held,
       d.at
     from (select x.at, x.at at time zone 'utc' as today from (select ledger_now() as at) x) d
     left join ledger_counters c on c.workspace_id = $1 and c.scope = $2 and c.scope_id = $3`,
    [workspaceId, layer, id],
  );
  const nowMs = (row?.at ?? new Date()).getTime();
  return {
    total: row?.total ?? 0n,
    monthly: row?.monthly ?? 0n,
    weekly: row?.weekly ?? 0n,
    daily: row?.daily ?? 0n,
    heldNano: row?.held ?? 0n,
    resetsAt: {
      total: null,
      monthly: resetsAt("monthly", nowMs),
      weekly: resetsAt("weekly", nowMs),
      daily: resetsAt("daily", nowMs),
    },
  };
}

type EntryRow = SnakeCased<Omit<Entry, "id">> & { readonly entry: bigint };

/** The public id of an entry. */
export const entryId = (entry: bigint): string => `entry_${entry}`;

const toEntry = ({ entry, ...row }: EntryRow): Entry => ({
  id: entryId(entry),
  ...camelCased(row),
});

/** Entries that a page with rare filters looks at, at most. */
const lookedAtMax = 50_000;
const entryColumns =
  "entry, kind, amount_nano, held_nano, balance_after_nano, reference, key_id, member_id, note, created_at";

/** The statement of a piece of the ledger: newest first, before the cursor, of the period. */
function pieceSql(
  workspaceId: string,
  page: EntriesPage,
  bind: (value: unknown) => string,
): string {
  const where = [`workspace_id = ${bind(workspaceId)}`, "entry > 0"];
  if (/^\d{1,18}$/.test(page.cursor ?? ""))
    where.push(`entry < ${bind(BigInt(page.cursor!))}::bigint`);
  if (page.from !== undefined) where.push(`created_at >= ${bind(page.from)}::timestamptz`);
  if (page.to !== undefined) where.push(`created_at < ${bind(page.to)}::timestamptz`);
  if (page.reference !== undefined) where.push(`reference = ${bind(page.reference)}`);
  return `select ${entryColumns} from ledger_entries where ${where.join(" and ")} order by entry desc limit ${lookedAtMax}`;
}

/**
 * A page of a workspace's entries, newest first. `cursor` is the `nextCursor` of the page before. Few entries may have what is asked
 * for: a page then has fewer than `limit`, and a cursor from which others are looked for.
 */
export async function readEntries(
  database: Queryable,
  workspaceId: string,
  page: EntriesPage & { readonly limit: number },
): Promise<EntryPage> {
  const params: unknown[] = [];
  const bind = (value: unknown): string => `$${params.push(value)}`;
  const piece = pieceSql(workspaceId, page, bind);
  const looked = [...params];
  const where = Object.entries({ kind: page.kind, key_id: page.keyId, member_id: page.memberId })
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => `x.${column} = ${bind(value)}`);
  const rows = await database.query<EntryRow>(
    `select x.* from (${piece}) x where ${["true", ...where].join(" and ")} order by x.entry desc limit ${bind(page.limit + 1)}`,
    params,
  );
  const entries = rows.slice(0, page.limit).map(toEntry);
  if (rows.length > page.limit) return { entries, nextCursor: String(rows[page.limit - 1]!.entry) };
  if (where.length === 0) return { entries, nextCursor: null };
  const [end] = await database.query<{ n: bigint; last: bigint | null }>(
    `select count(*) as n, min(x.entry) as last from (${piece}) x`,
    looked,
  );
  const more = end !== undefined && end.n >= BigInt(lookedAtMax);
  return { entries, nextCursor: more ? String(end.last) : null };
}
