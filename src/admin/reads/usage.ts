/**
 * What was used and what it cost, by period and by what used it. docs/management.md.
 * Money is the ledger's: a row's cost is the sum of the charges committed within its period, so that rows add up to the
 * ledger to the last nano-dollar, whatever became of the log. The log tells the rest of each call: its model, provider and
 * tokens; a charge whose log row was lost counts as a call of no model. A call that was charged counts when it was charged;
 * one that was not, when it began.
 */
import { GatewayError } from "../../base/errors.ts";
import { idTime } from "../../base/ids.ts";
import type { Granularity, UsageGroup } from "../../base/management.ts";
import { formatUsd } from "../../base/money.ts";
import type { Queryable } from "../../storage/index.ts";
import { visibilityParams, whereVisible, type Visibility } from "../../tenancy/index.ts";

/** The column of `calls` below that each group is. */
const groups: Readonly<Record<UsageGroup, string>> = {
  model: "model",
  key: "key_id",
  provider: "provider",
  member: "member_id",
  workspace: "workspace_id",
};

export interface UsageFilter {
  readonly visibility: Visibility;
  readonly from: Date;
  /** Not included. */
  readonly to: Date;
  readonly granularity: Granularity;
  readonly groupBy?: UsageGroup | undefined;
  readonly workspaceId?: string | undefined;
  readonly keyId?: string | undefined;
}

/** The sums of a row, by their names on the wire, and how each is read from a stored usage `u`. */
const sums = {
  input_tokens: `coalesce(u."inputTokens", 0) + coalesce(u."inputTextTokens", 0) + coalesce(u."inputImageTokens", 0)`,
  cache_read_tokens: `coalesce(u."cacheReadTokens", 0)`,
  cache_write_tokens: `coalesce(u."cacheWriteTokens", 0)`,
  output_tokens: `coalesce(u."outputTokens", 0) + coalesce(u."outputTextTokens", 0) + coalesce(u."outputImageTokens", 0)`,
  reasoning_tokens: `coalesce(u."reasoningTokens", 0)`,
  output_images: `coalesce(u."outputImages", 0)`,
  output_video_seconds: `coalesce(u."seconds", 0)`,
  output_video_tokens: `coalesce(u."tokens", 0)`,
} as const;
export const sumNames = Object.keys(sums) as (keyof typeof sums)[];

/** Fields of stored usages, each of them a number. */
const usageFields = Object.values(sums).flatMap((sum) =>
  [...sum.matchAll(/u\.("\w+")/g)].map(([, name]) => name!),
);

/** Rows of one answer at most: what nobody reads as a whole is not sent as one. */
export const usageRowsMax = 10_000;

const clockSlackMs = 60 * 60 * 1000;
const visibleCharge = whereVisible(5, { workspace: "e.workspace_id", owner: "e.member_id" });
const visibleCall = whereVisible(5, { workspace: "r.workspace_id", owner: "k.created_by" });
const latePart = ":late";

/**
 * A row of the log and its head, as the view `request_log` joins them (migration 0015), and what both together tell. The view
 * itself under an outer join would have to be made first: all of it, for one hour's calls.
 */
const log = {
  heads: "left join request_heads h on h.workspace_id = r.workspace_id and h.id = r.head",
  keyId: "coalesce(r.key_id, h.key_id)",
  shown: `coalesce(r.model, h.model) as model, coalesce(r.provider, h.provider) as provider,
    case when r.usage_counts is null then r.usage
      else format(h.usage_format, variadic string_to_array(r.usage_counts, ','))::json end as usage`,
} as const;

/**
 * Every call of the period once. A call that outlived its hold was charged under its id and ':late' (docs/ledger.md). What
 * the log says cost nothing may still have a charge of 0, which is in the first half.
 */
const calls = `
  select e.workspace_id, e.created_at as at, e.key_id, e.member_id, e.amount_nano as cost, ${log.shown}
  from ledger_entries e
  left join requests r on r.workspace_id = e.workspace_id
    and r.id = case when e.reference like '%${latePart}' then left(e.reference, -${latePart.length}) else e.reference end
  ${log.heads}
  where e.kind = 'charge' and e.created_at >= $1::timestamptz and e.created_at < $2::timestamptz
    and ($3::text is null or e.workspace_id = $3) and ($4::text is null or e.key_id = $4) and ${visibleCharge}
  union all
  select r.workspace_id, r.created_at, ${log.keyId}, k.created_by, 0, ${log.shown}
  from requests r ${log.heads}
  left join api_keys k on k.workspace_id = r.workspace_id and k.id = ${log.keyId}
  where r.cost_nano = 0 and r.created_at >= $1::timestamptz and r.created_at < $2::timestamptz
    and (r.id between 'req_' || $9 and 'req_' || $10 or r.id between 'task_' || $9 and 'task_' || $10)
    and ($3::text is null or r.workspace_id = $3) and ($4::text is null or ${log.keyId} = $4) and ${visibleCall}
    and not exists (select 1 from ledger_entries e where e.workspace_id = r.workspace_id
      and e.reference in (r.id, r.id || '${latePart}') and e.kind = 'charge')`;

/** The beginning of the period a call is in, in UTC. */
const periodOf = (granularity: Granularity): string =>
  granularity === "total"
    ? "$1::timestamptz"
    : `date_trunc('${granularity}', c.at at time zone 'utc') at time zone 'utc'`;

type UsageRow = {
  readonly start: Date;
  readonly of: string | null;
  readonly email: string | null;
} & {
  readonly [name in "requests" | "cost" | keyof typeof sums]: string;
};

/** Rows in the order of time, the dearest of each period first. @throws GatewayError `invalid_value` for too many */
export async function readUsage(database: Queryable, filter: UsageFilter): Promise<object[]> {
  const { granularity, groupBy, from, to } = filter;
  const of = groupBy === undefined ? "null::text" : `c.${groups[groupBy]}`;
  const columns = sumNames.map((name) => `sum(${sums[name]})::text as ${name}`);
  const rows = await database.query<UsageRow>(
    `select s.*, ${groupBy === "member" ? "(select u.email from users u where u.id = s.of)" : "null"} as email from (
     select ${periodOf(granularity)} as start, ${of} as of, count(*)::text as requests, ${columns.join(", ")},
       sum(c.cost)::text as cost
     from (${calls}) c
     left join lateral json_to_record(c.usage) as u (${usageFields.map((name) => `${name} numeric`).join(", ")}) on true
     group by 1, 2 order by 1, sum(c.cost) desc, 2 limit ${usageRowsMax + 1}) s order by s.start, s.cost::numeric desc, s.of`,
    [
      from,
      to,
      filter.workspaceId ?? null,
      filter.keyId ?? null,
      ...visibilityParams(filter.visibility),
      idTime(from.getTime() - clockSlackMs),
      idTime(to.getTime() + clockSlackMs),
    ],
  );
  if (rows.length > usageRowsMax) {
    throw new GatewayError(
      "invalid_value",
      `The answer would have more than ${usageRowsMax} rows. Choose a coarser \`granularity\`, or less time.`,
      { param: "granularity" },
    );
  }
  return rows.map((row) => renderRow(row, groupBy));
}

function renderRow(row: UsageRow, groupBy: UsageGroup | undefined): object {
  return {
    start: row.start.toISOString(),
    ...(groupBy !== undefined && { [groups[groupBy]]: row.of }),
    ...(groupBy === "member" && { member_email: row.email }),
    requests: Number(row.requests),
    ...Object.fromEntries(sumNames.map((name) => [name, Number(row[name])])),
    cost: formatUsd(BigInt(row.cost)),
  };
}
