/**
 * Lists of keys: filters, search, sort orders. A condition of the statement limits them to the keys that the reader may see. VIS;
 * docs/management.md.
 */
import type { Page, PageRequest, RowContext } from "./context.ts";
import { cursorOf, pageLimit, pageOf } from "./context.ts";
import { keyColumns, keyOfRow, type KeyRecord, type KeyRow, type KeyStatus } from "./key-record.ts";
import { seesEverything, visibilityParams, whereVisible, type Visibility } from "./visibility.ts";

export const keySorts = ["name", "used", "spend", "cap"] as const;
export type KeySort = (typeof keySorts)[number];

export interface KeyFilter extends PageRequest {
  readonly workspaceId?: string | undefined;
  readonly createdBy?: string | undefined;
  readonly status?: KeyStatus | undefined;
  /** Part of the name, the last four characters, or the id. */
  readonly q?: string | undefined;
  /** Newest first where absent. */
  readonly sort?: KeySort | undefined;
  /** Limits the list to what its reader may see; all keys if absent. */
  readonly visibility?: Visibility | undefined;
}

/** The spend by the ledger's counter `s`, per window that contains the day `$11`, in nano-USD. */
const spentIn = {
  total: "coalesce(s.total_nano, 0)",
  monthly:
    "ledger_since(date_trunc('month', $11::date::timestamp)::date, s.last_day, s.month_nano)",
  weekly: "ledger_since(date_trunc('week', $11::date::timestamp)::date, s.last_day, s.week_nano)",
  daily: "ledger_since($11::date, s.last_day, s.day_nano)",
};

/** The used share of a cap: 1 is reached; null without a cap. */
const fullness = (window: keyof typeof spentIn): string =>
  `case when k.cap_${window}_nano = 0 then 1
     else (${spentIn[window]})::numeric / k.cap_${window}_nano end`;

/** The sort value of each order; descending, except for names. */
const ranks: Readonly<Record<KeySort, string>> = {
  name: "lower(k.name)",
  used: "coalesce(k.last_used_at, 'epoch'::timestamptz)",
  spend: `(${spentIn.monthly})`,
  cap: `coalesce(greatest(${(["total", "monthly", "weekly", "daily"] as const).map(fullness).join(", ")}), -1)`,
};

const columnsOf = (k: string) => ({ workspace: `${k}workspace_id`, owner: `${k}created_by` });
const filters = `($2::text is null or created_by = $2) and ($3::text is null or status = $3)
      and ($4::text is null or position(lower($4) in lower(name)) > 0 or key_last4 = $4 or id = $4)`;

const newestFirst = `
  select ${keyColumns} from api_keys
  where ($1::text is null or workspace_id = $1) and ${filters} and ($5::text is null or id < $5)
    and ${whereVisible(7, columnsOf(""))} and $11::date is not null
  order by id desc limit $6`;

/**
 * The cursor is the last key's id, and its rank is looked up again. A key whose rank changes between two pages may appear twice or
 * not at all.
 */
function sorted(sort: KeySort): string {
  const [order, beyond] = sort === "name" ? ["asc", ">"] : ["desc", "<"];
  return `
  with ranked as (
    select k.*, ${ranks[sort]} as rank from api_keys k
    left join ledger_counters s on s.workspace_id = k.workspace_id and s.scope = 'key' and s.scope_id = k.id
    where ($1::text is null or k.workspace_id = $1) and ${whereVisible(7, columnsOf("k."))} and $11::date is not null
  )
  select ${keyColumns} from ranked
  where ${filters}
    and ($5::text is null or (rank, id) ${beyond} (select r.rank, r.id from ranked r where r.id = $5))
  order by rank ${order}, id ${order} limit $6`;
}

/** Keys, newest first or as sorted. A legacy key without an owner never matches a `createdBy`. */
export async function listKeys(context: RowContext, filter: KeyFilter): Promise<Page<KeyRecord>> {
  const limit = pageLimit(filter.limit);
  const statement = filter.sort === undefined ? newestFirst : sorted(filter.sort);
  const rows = await context.database.query<KeyRow>(statement, [
    filter.workspaceId ?? null,
    filter.createdBy ?? null,
    filter.status ?? null,
    filter.q ?? null,
    cursorOf(filter, "key"),
    limit + 1,
    ...visibilityParams(filter.visibility ?? seesEverything),
    new Date(context.clock.now()).toISOString().slice(0, 10),
  ]);
  return pageOf(rows.map(keyOfRow), limit);
}
