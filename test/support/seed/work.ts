/** Tasks, their callbacks and audit entries in large numbers, written by SQL besides the calls of `seedCalls`. */
import type { Database } from "../../../src/storage/index.ts";
import { seedId, timePart } from "./calls.ts";

interface WorkSize {
  readonly tasks: number;
  readonly audit: number;
  readonly days: number;
  readonly end: Date;
}

/** SQL for the time of row `n` of `count`, spread evenly over the days. */
const msOf = ({ days, end }: WorkSize, count: number): string =>
  `(${end.getTime()}::bigint - ${days}::bigint * 86400000 + n::bigint * ${Math.floor((days * 86_400_000) / (count + 1))})`;

const id = (prefix: string): string =>
  `'${prefix}_' || ${timePart("ms")} || substr(md5(n::text), 1, 16)`;

/** Copies existing tasks to other times and to the keys of the seed; a third of them have a callback that was sent. */
async function writeTasks(database: Database, size: WorkSize): Promise<void> {
  await database.query(
    `with planned as (
       select n, ${msOf(size, size.tasks)} as ms from generate_series(1, $1::integer) n),
     models as (select t, row_number() over (order by t.id) - 1 as place, count(*) over () as all from tasks t),
     made as (
       insert into tasks
       select r.* from (select *, timestamptz 'epoch' + ms * interval '1 ms' as at from planned) p
       join api_keys k on k.id = 'key_seed_' || 1 + p.n % 300
       join models m on m.place = p.n % m.all
       cross join lateral jsonb_populate_record(m.t, jsonb_build_object('workspace_id', k.workspace_id, 'id', ${id("task")},
         'key_id', k.id, 'member_id', k.created_by, 'created_at', at, 'updated_at', at, 'finished_at', at, 'expires_at', at,
         'webhook_url', case when n % 3 = 0 then 'https://127.0.0.1:9/hook' end)) r
       returning workspace_id, id, created_at, webhook_url)
     insert into webhook_deliveries (workspace_id, id, task_id, type, url, status, created_at, updated_at)
     select workspace_id, replace(id, 'task_', 'evt_'), id, 'task.succeeded', webhook_url, 'delivered', created_at, created_at
     from made where webhook_url is not null`,
    [size.tasks],
  );
}

async function writeAudit(database: Database, size: WorkSize): Promise<void> {
  await database.query(
    `insert into audit_entries (workspace_id, id, created_at, organization_id, actor_kind, actor_id, actor_name, action, object_type,
       object_id, before, after)
     select 'ws_seed_' || 1 + n % 4, ${id("audit")}, timestamptz 'epoch' + ms * interval '1 ms', $2, 'session', 'user_seed_' || 1 + n % 60,
       'user' || 1 + n % 60 || '@seed.example', 'key.change', 'key', 'key_seed_' || 1 + n % 300, '{"name":"a"}', '{"name":"b"}'
     from (select n, ${msOf(size, size.audit)} as ms from generate_series(1, $1::integer) n) p`,
    [size.audit, seedId.organization],
  );
}

/** Writes everything and has the database analyze its tables. */
export async function seedWork(database: Database, size: WorkSize): Promise<void> {
  await writeTasks(database, size);
  await writeAudit(database, size);
  await database.query("analyze");
}
