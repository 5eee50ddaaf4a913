/**
 * Deletes old finished tasks and deliveries, by their key, some at a time. These tables have no parts: they have few rows compared with
 * calls, and each row changes until it is finished. A task is deleted with its files, attempts and deliveries.
 */
import type { Queryable } from "../storage/index.ts";
import { rowsMax } from "./request-log.ts";

/** Rows `x` of `table` with ids from before the cut `$1`, in the order of their key, if `where` holds; of all workspaces. */
const expiredSql = (table: string, prefix: string, where: string): string => `
  over as materialized (
    select x.workspace_id, x.id from workspaces w cross join lateral (
      select x.workspace_id, x.id from ${table} x where x.workspace_id = w.id and x.id >= '${prefix}'
        and x.id < '${prefix}' || id_time(((now() at time zone 'UTC')::date - $1::integer)::timestamp at time zone 'UTC')
        and ${where} order by x.id limit $2) x
    limit $2)`;

const isOver = (column: string): string =>
  `x.${column} < ((now() at time zone 'UTC')::date - $1::integer)::timestamp at time zone 'UTC'`;

const same = "x.workspace_id = o.workspace_id";

/** True for a finished task with settled money and no pending callback. */
const isDone = `x.due_at is null
        and not exists (select from ledger_holds h where h.workspace_id = x.workspace_id and h.id = x.id)
        and not exists (select from webhook_deliveries d where d.workspace_id = x.workspace_id and d.task_id = x.id
          and d.status = 'pending')`;

/** Deletes the tasks `o` of the table `over`, with everything that belongs to them. */
const deleteTasksSql = `
  deliveries as (delete from webhook_deliveries x using over o where ${same} and x.task_id = o.id returning x.workspace_id, x.id),
  attempts as (delete from webhook_attempts x using deliveries o where ${same} and x.delivery_id = o.id),
  let_go as (update files x set expires_at = least(x.expires_at, now()) from over o where ${same} and x.task_id = o.id),
  gone as (delete from tasks x using over o where ${same} and x.id = o.id returning 1)
  select count(*)::integer as n from gone`;

const tasksSql = `
  with ${expiredSql("tasks", "task_", `${isDone} and ${isOver("finished_at")}`)}, ${deleteTasksSql}`;

const doneTasksOf = `from tasks x where x.workspace_id = $1 and x.id = any($2::text[]) and ${isDone}`;
/** Counts the finished tasks among the tasks $2 of workspace $1. */
export const doneTasksSql = `select count(*)::integer as n ${doneTasksOf}`;
/** Deletes them, of any age. */
export const goneTasksSql = `
  with over as materialized (select x.workspace_id, x.id ${doneTasksOf}), ${deleteTasksSql}`;

const deliveriesSql = `
  with ${expiredSql("webhook_deliveries", "evt_", `x.due_at is null and ${isOver("updated_at")}`)},
  attempts as (delete from webhook_attempts x using over o where ${same} and x.delivery_id = o.id),
  gone as (delete from webhook_deliveries x using over o where ${same} and x.id = o.id returning 1)
  select count(*)::integer as n from gone`;

/** Fewer, because a task has rows in five tables. */
const tasksMax = rowsMax / 8;

async function step(tx: Queryable, sql: string, days: number, most: number): Promise<number> {
  const [row] = await tx.query<{ n: number }>(sql, [days, most]);
  return row?.n ?? 0;
}

/** Runs one step for finished tasks. @returns how many went */
export const tasksStep = (tx: Queryable, days: number): Promise<number> =>
  step(tx, tasksSql, days, tasksMax);

/** Runs one step for deliveries. @returns how many went */
export const deliveriesStep = (tx: Queryable, days: number): Promise<number> =>
  step(tx, deliveriesSql, days, rowsMax);
