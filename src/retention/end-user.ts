/**
 * Erases an end user from the calls that were made for them, and from the stored data of those calls. The ledger has no end users; sums go
 * on under an anonymous token. Each page of a workspace is one transaction, so that no caller waits, and an interrupted erasure can be
 * repeated. docs/data.md "Erasing a person".
 */
import type { Database, Queryable } from "../storage/index.ts";
import { renameTagValue } from "../usage/index.ts";
import { renameInTexts, type Renaming } from "./end-user-texts.ts";
import { doneTasksSql, goneTasksSql } from "./finished-tasks.ts";

/** Rows of the log or tasks that one page reads: some tens of milliseconds. */
const pageMax = 5_000;
/** Rows of other tables that one page changes. */
const rowsMax = 2_000;

export interface EndUser {
  /** The id, as the caller sent it. */
  readonly endUser: string;
  /** The token that replaces the id. */
  readonly token: string;
  /** True: count only, and change nothing. */
  readonly dryRun: boolean;
}

/** The progress of an erasure: the next page of a workspace. */
export interface ErasurePlace {
  readonly workspaceId: string;
  readonly stage: "requests" | "tasks" | "rest";
  /** The last id of the page before. */
  readonly after: string;
}

/** The numbers of erased records of a page, by kind. */
export type Erased = Readonly<Record<ErasedName, number>>;
const erasedNames = [
  "requests",
  "bodies",
  "tasks",
  "tasks_under_way",
  "files",
  "usage_rows",
  "cached_answers",
] as const;
type ErasedName = (typeof erasedNames)[number];

export const nothingErased = Object.fromEntries(erasedNames.map((name) => [name, 0])) as Erased;

export const addErased = (one: Erased, other: Partial<Erased>): Erased =>
  Object.fromEntries(erasedNames.map((name) => [name, one[name] + (other[name] ?? 0)])) as Erased;

interface Page {
  readonly erased: Partial<Erased>;
  /** Undefined once the workspace is done. */
  readonly next: ErasurePlace | undefined;
}

/** Finds the ids of a page that belong to the end user, and the page's last id. */
const pageSql = (table: "requests" | "tasks"): string => `
  select max(id) as last, coalesce(array_agg(id) filter (where end_user = $3), '{}') as mine
  from (select id, end_user from ${table} where workspace_id = $1 and id > $2 order by id limit ${pageMax}) page`;

interface PageRow {
  readonly last: string | null;
  readonly mine: readonly string[];
}

const nameSql = `
  with named as (
    update requests set end_user = $3 where workspace_id = $1 and id = any($2::text[]) and end_user = $4 returning 1)
  select count(*)::integer as n from named`;

const bodiesOf = "from request_bodies where workspace_id = $1 and id = any($2::text[])";
const bodiesSql = `
  with gone as (delete ${bodiesOf} returning 1) select count(*)::integer as n from gone`;
const bodiesCountSql = `select count(*)::integer as n ${bodiesOf}`;

/** The results of image calls, and the answers stored for idempotent repeats. */
const isFileOf = `workspace_id = $1 and expires_at > now() and (task_id = any($2::text[]) or name in (
  select answer from idempotency_keys where workspace_id = $1 and call_id = any($2::text[]) and answer is not null))`;
/** Expires them. */
const filesSql = `
  with gone as (update files set expires_at = now() where ${isFileOf} returning 1)
  select count(*)::integer as n from gone`;
const filesCountSql = `select count(*)::integer as n from files where ${isFileOf}`;

const countOf = async (tx: Queryable, sql: string, params: readonly unknown[]): Promise<number> =>
  (await tx.query<{ n: number }>(sql, [...params]))[0]!.n;

async function requestsPage(tx: Queryable, place: ErasurePlace, one: EndUser): Promise<Page> {
  const { workspaceId, after } = place;
  const [page] = await tx.query<PageRow>(pageSql("requests"), [workspaceId, after, one.endUser]);
  const { last, mine } = page!;
  const next: ErasurePlace =
    last === null ? { workspaceId, stage: "tasks", after: "" } : { ...place, after: last };
  if (mine.length === 0) return { erased: {}, next };
  const { dryRun } = one;
  const requests = dryRun ? mine.length : await renameRows(tx, { workspaceId, ids: mine, ...one });
  const bodies = await countOf(tx, dryRun ? bodiesCountSql : bodiesSql, [workspaceId, mine]);
  const files = await countOf(tx, dryRun ? filesCountSql : filesSql, [workspaceId, mine]);
  return { erased: { requests, bodies, files }, next };
}

/** Puts the token in the rows of the log with these ids. @returns how many named the end user */
async function renameRows(tx: Queryable, renaming: Renaming): Promise<number> {
  const { workspaceId, ids, token, endUser } = renaming;
  await tx.query("set local enable_seqscan = off");
  const named = await countOf(tx, nameSql, [workspaceId, ids, token, endUser]);
  await renameInTexts(tx, renaming);
  return named;
}

/**
 * Removes finished tasks, as retention does. Some ended since the pages of the log, so their rows are renamed here. A task in flight is
 * counted: the erasure is repeated when it has ended.
 */
async function tasksPage(tx: Queryable, place: ErasurePlace, one: EndUser): Promise<Page> {
  const { workspaceId, after } = place;
  const [page] = await tx.query<PageRow>(pageSql("tasks"), [workspaceId, after, one.endUser]);
  const { last, mine } = page!;
  const next: ErasurePlace =
    last === null ? { workspaceId, stage: "rest", after: "" } : { ...place, after: last };
  if (mine.length === 0) return { erased: {}, next };
  // The pages of the log have counted the rows of finished tasks.
  const requests = one.dryRun ? 0 : await renameRows(tx, { workspaceId, ids: mine, ...one });
  const tasks = await countOf(tx, one.dryRun ? doneTasksSql : goneTasksSql, [workspaceId, mine]);
  return { erased: { requests, tasks, tasks_under_way: mine.length - tasks }, next };
}

const cacheCountSql = "select count(*)::integer as n from cached_answers where workspace_id = $1";
const cacheSql = `
  with gone as (delete from cached_answers where ctid = any(array(
    select ctid from cached_answers where workspace_id = $1 limit ${rowsMax})) returning 1)
  select count(*)::integer as n from gone`;

/** Renames sums, and deletes the workspace's whole cache, because its answers cannot be assigned to end users. */
async function restPage(tx: Queryable, place: ErasurePlace, one: EndUser): Promise<Page> {
  const { workspaceId } = place;
  const { endUser, token, dryRun } = one;
  const renaming = { workspaceId, name: "end_user", value: endUser, to: token, limit: rowsMax };
  const usage_rows = await renameTagValue(tx, { ...renaming, dryRun });
  const cached_answers = await countOf(tx, dryRun ? cacheCountSql : cacheSql, [workspaceId]);
  const isOver = dryRun || (usage_rows < rowsMax && cached_answers < rowsMax);
  return { erased: { usage_rows, cached_answers }, next: isOver ? undefined : place };
}

const pages = { requests: requestsPage, tasks: tasksPage, rest: restPage };

/** Runs the next page in a transaction of its own; its `next` is undefined at the end of the workspace. */
export function eraseEndUserPage(
  database: Database,
  place: ErasurePlace,
  one: EndUser,
): Promise<Page> {
  return database.transaction((tx) => pages[place.stage](tx, place, one));
}

/** Returns the workspace after this one; undefined after the last. */
export async function workspaceAfter(
  database: Queryable,
  workspaceId: string,
): Promise<string | undefined> {
  const [row] = await database.query<{ id: string }>(
    "select id from workspaces where id > $1 order by id limit 1",
    [workspaceId],
  );
  return row?.id;
}
