/**
 * A large installation, written by SQL: organizations, workspaces, members, keys, and the calls of many days in the request log
 * and the ledger, as the gateway would have written them. The same numbers make the same rows, and `verify` finds no difference.
 * Sums of usage are not made here: the gateway makes them.
 */
import type { Database, Queryable } from "../../../src/storage/index.ts";

export interface SeedSize {
  readonly requests: number;
  readonly days: number;
  readonly keys: number;
  readonly models: number;
  readonly members: number;
  readonly providers: number;
  readonly workspaces: number;
  /** The day after the last one. */
  readonly end: Date;
  /** Multiplies the cost of calls; 1 if absent. */
  readonly factor?: number;
  /** Fewer calls on weekends, and more from week to week: some calls are left out. */
  readonly isUneven?: boolean;
}

/** The size with which the console must cope. */
export const largeSeed: Omit<SeedSize, "end"> = {
  requests: 200_000,
  days: 90,
  keys: 300,
  models: 500,
  members: 60,
  providers: 40,
  workspaces: 4,
};

/** Ids of the seeded rows, numbered from 1. */
export const seedId = {
  organization: "org_seed",
  workspace: (n: number) => `ws_seed_${n}`,
  user: (n: number) => `user_seed_${n}`,
  key: (n: number) => `key_seed_${n}`,
  model: (n: number) => `vendor-${n % 20}/model-${n}`,
  provider: (n: number) => `provider-${n}`,
};

/** SQL for a whole number from 0 up to `below`, derived from `n`: the same each time. */
const pick = (n: string, salt: number, below: string | number): string =>
  `((hashint8((${n})::bigint * 1009 + ${salt}) & 2147483647) % ${below})`;

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
/** SQL for the ten characters of an id that encode its time; `ms` is an expression. */
export const timePart = (ms: string): string =>
  Array.from(
    { length: 10 },
    (_, place) => `substr('${alphabet}', 1 + ((${ms} >> ${5 * (9 - place)}) & 31)::integer, 1)`,
  ).join(" || ");

async function makePeople(tx: Queryable, size: SeedSize): Promise<void> {
  const { workspaces, members, keys } = size;
  await tx.query("insert into organizations (id, name) values ($1, 'Seed')", [seedId.organization]);
  await tx.query(
    `insert into workspaces (id, organization_id, name)
     select 'ws_seed_' || n, $2, 'Team ' || n from generate_series(1, $1::integer) n`,
    [workspaces, seedId.organization],
  );
  await tx.query(
    `insert into users (id, email, name)
     select 'user_seed_' || n, 'user' || n || '@seed.example', 'User ' || n from generate_series(1, $1::integer) n`,
    [members],
  );
  await tx.query(
    `insert into members (workspace_id, user_id)
     select 'ws_seed_' || 1 + n % $2::integer, 'user_seed_' || n from generate_series(1, $1::integer) n`,
    [members, workspaces],
  );
  await tx.query(
    `insert into api_keys (workspace_id, id, name, lookup, key_prefix, key_last4, created_by)
     select 'ws_seed_' || 1 + u.n % $3::integer, 'key_seed_' || k, 'key ' || k, decode(md5('seed' || k), 'hex'), 'gw_live_', lpad(k::text, 4, '0'),
       'user_seed_' || u.n
     from generate_series(1, $1::integer) k cross join lateral (select 1 + k % $2::integer as n) u`,
    [keys, members, workspaces],
  );
}

/** Who called which model when, and with which result. Few models carry most calls, and nights are quiet. */
async function planCalls(tx: Queryable, size: SeedSize): Promise<void> {
  const { requests, days, keys, models, providers, end, factor = 1, isUneven = false } = size;
  const key = `1 + ${pick("n", 1, keys)}::bigint * ${pick("n", 2, keys)} / ${keys}`;
  await tx.query(
    `create temp table seed_calls on commit drop as
     select c.*, k.workspace_id, k.created_by as member_id, 'vendor-' || c.model_n % 20 || '/model-' || c.model_n as model,
       'provider-' || 1 + c.model_n % ${providers} as provider,
       (array['chat', 'messages', 'responses', 'generate_content'])[1 + c.key_n % 4] as protocol,
       'req_' || ${timePart("c.ms")} || substr(md5(c.n::text), 1, 16) as id,
       case when c.luck < 30 then 0 else ${factor} * (c.input::bigint * (100 + c.model_n) + c.output::bigint * (400 + c.model_n)) end as cost,
       (array['succeeded', 'failed', 'client_closed'])[case when c.luck < 30 then 2 when c.luck < 40 then 3 else 1 end] as status,
       case when c.luck < 30 then (array['upstream_unavailable', 'rate_limit_exceeded', 'invalid_value'])[1 + c.n % 3] end as error
     from (
       select n, ${key} as key_n, 'key_seed_' || ${key} as key_id,
         1 + (${pick("n", 3, models)} * (1 + ${pick("n", 4, models)}) / ${models}) as model_n,
         ${pick("n", 5, 1000)} as luck, 50 + ${pick("n", 6, 4000)} as input, 1 + ${pick("n", 7, 1500)} as output,
         (extract(epoch from $2::timestamptz) * 1000)::bigint - ($1::bigint - n + 1) * (${days} * 86400000.0 / $1)::bigint as ms,
         100 + ${pick("n", 8, 400)} as first_ms, 300 + ${pick("n", 9, 3000)} * ${pick("n", 10, 3000)} / 600 as took_ms
       from generate_series(1, $1::integer) n
     ) c join api_keys k on k.id = c.key_id
     where not $3::boolean or (${pick("c.n", 11, 100)} < case when extract(isodow from timestamptz 'epoch' + c.ms * interval '1 ms') > 5 then 35 else 100 end
       and ${pick("c.n", 12, 100)} < 45 + 55 * c.n / $1)
     order by c.n`,
    [requests, end, isUneven],
  );
}

const headOf =
  "md5(c.workspace_id || c.key_id || c.model || c.status || coalesce(c.error, ''))::uuid";
const explanationOf = `case when c.error is null then '' else '"error":"' || c.error || '",' end`;

/** The log: rows with heads, as the log writer makes them for similar calls. */
async function writeLog(tx: Queryable): Promise<void> {
  await tx.query(
    `insert into request_heads (workspace_id, id, key_id, model, provider, protocol, upstream_protocol, status, http_status,
       usage_source, usage_format, attempt, explanation)
     select distinct on (c.workspace_id, ${headOf}) c.workspace_id, ${headOf}, c.key_id, c.model,
       case when c.error is null then c.provider end, c.protocol, c.protocol, c.status, case when c.error is null then 200 else 503 end,
       'upstream', '{"inputTokens":%s,"outputTokens":%s}',
       json_build_object('provider', c.provider, 'credential', 'default', 'upstream_model', c.model, 'status', 200, 'outcome', 'ok'),
       ('{' || ${explanationOf} || '"plan":{"strategy":"balanced","order":["' || c.provider || '"]}}')::json
     from seed_calls c`,
  );
  await tx.query(
    `with written as (
       insert into requests (workspace_id, head, id, created_at, cost_nano, duration_ms, first_token_ms, usage_counts,
         attempt_started_ms, attempt_duration_ms)
       select c.workspace_id, ${headOf}, c.id, timestamptz 'epoch' + c.ms * interval '1 ms', c.cost, c.took_ms,
         case when c.error is null then c.first_ms end, c.input || ',' || c.output, 2, c.took_ms - 2
       from seed_calls c order by c.n
       returning workspace_id, id, cost_nano)
     insert into usage_pending (workspace_id, id) select workspace_id, id from written where cost_nano = 0`,
  );
}

/** The ledger: credit before the first call, a charge at the end of each, and the resulting counters. */
async function writeLedger(tx: Queryable, { end }: SeedSize): Promise<void> {
  const credit = "1000000000000000";
  await tx.query(
    `insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, created_at)
     select workspace_id, 'credit_seed', 'credit', ${credit}, 0, ${credit}, min(timestamptz 'epoch' + ms * interval '1 ms')
     from seed_calls group by 1`,
  );
  await tx.query(
    `insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, member_id, created_at)
     select c.workspace_id, c.id, 'charge', c.cost, c.cost * 2,
       ${credit} - sum(c.cost) over (partition by c.workspace_id order by c.n), c.key_id, c.member_id,
       least(timestamptz 'epoch' + (c.ms + c.took_ms) * interval '1 ms', $1::timestamptz)
     from seed_calls c where c.cost > 0 order by c.n`,
    [end],
  );
  const counted = (of: string) => `
    select workspace_id, ${of} as id, coalesce(sum(amount_nano), 0)::bigint as total,
      coalesce(sum(amount_nano) filter (where date_trunc('month', d) = date_trunc('month', last)), 0)::bigint as month,
      coalesce(sum(amount_nano) filter (where date_trunc('week', d) = date_trunc('week', last)), 0)::bigint as week,
      coalesce(sum(amount_nano) filter (where d = last), 0)::bigint as day, last
    from (select *, max(d) over (partition by workspace_id, ${of}) as last
      from (select *, (created_at at time zone 'UTC')::date as d from ledger_entries
        where kind = 'charge' and workspace_id like 'ws_seed_%') x) y
    group by workspace_id, ${of}, last`;
  await tx.query(
    `update ledger_accounts a set credits_nano = ${credit}, charged_nano = c.total, month_nano = c.month, week_nano = c.week,
       day_nano = c.day, last_day = c.last
     from (${counted("workspace_id")}) c where a.workspace_id = c.workspace_id`,
  );
  for (const [scope, of] of [
    ["member", "member_id"],
    ["key", "key_id"],
  ] as const)
    await tx.query(
      `insert into ledger_spend (workspace_id, scope, scope_id, total_nano, month_nano, week_nano, day_nano, last_day)
       select workspace_id, '${scope}', id, total, month, week, day, last from (${counted(of)}) c`,
    );
}

/** Writes everything in one transaction, and has the database analyze its tables. */
export async function seedCalls(database: Database, size: SeedSize): Promise<void> {
  await database.transaction(
    async (tx) => {
      await tx.query("set local statement_timeout = 0");
      await makePeople(tx, size);
      await planCalls(tx, size);
      await writeLog(tx);
      await writeLedger(tx, size);
    },
    { msMax: 10 * 60_000 },
  );
  await database.query("analyze");
}
