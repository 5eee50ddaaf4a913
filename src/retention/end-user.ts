/**
 * Erasing an end user: what calls said of whom they were for, and what was kept of those calls. The ledger names nobody; sums go on
 * under a token that leads nowhere. A page of one workspace is a transaction, so that nobody waits, and whatever ends it can
 * be done again. docs/operate.md "Erasing a person".
 */
import type { Database, Queryable } from "../storage/index.ts";
import { renameTagValue } from "../usage/index.ts";
import { renameInTexts } from "./end-user-texts.ts";
import { goneTasksSql } from "./trails.ts";

/** Rows of the log or tasks that a page looks at: some tens of milliseconds. */
const pageMax = 5_000;
/** Rows that go at once besides. */
const rowsMax = 2_000;

export interface EndUser {
  /** As the caller said it. */
  readonly endUser: string;
  /** What takes its place. */
  readonly token: string;
  /** Counts, and changes nothing. */
  readonly dryRun: boolean;
}

/** How far it is: the next page of a workspace. */
export interface ErasurePlace {
  readonly workspaceId: string;
  readonly stage: "requests" | "tasks" | "rest";
  /** The last id of the page before. */
  readonly after: string;
}

/** What a page came to, by what it is. */
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

/** The ids of a page that are the end user's, and its last one. */
const pageSql = (table: "requests" | "tasks"): string => `
  select max(id) as last, coalesce(array_agg(id) filter (where end_user = $3), '{}') as mine
  from (select id, end_user from ${table} where workspace_id = $1 and id > $2 order by id limit ${pageMax}) page`;

interface PageRow {
  readonly last: string | null;
  readonly mine: readonly string[];
}

const nameSql =
  "update requests set end_user = $3 where workspace_id = $1 and id = any($2::text[])";

const bodiesSql = `
  with gone as (delete from request_bodies where workspace_id = $1 and id = any($2::text[]) returning 1)
  select count(*)::integer as n from gone`;

/** Results of image calls, and answers that are kept for their repetition. */
const filesSql = `
  with answers as (
    select answer from idempotency_keys where workspace_id = $1 and call_id = any($2::text[]) and answer is not null),
  gone as (
    update files set expires_at = now() where workspace_id = $1 and expires_at > now()
      and (task_id = any($2::text[]) or name in (select answer from answers)) returning 1)
  select count(*)::integer as n from gone`;

const countOf = async (tx: Queryable, sql: string, params: readonly unknown[]): Promise<number> =>
  (await tx.query<{ n: number }>(sql, [...params]))[0]!.n;

async function requestsPage(tx: Queryable, place: ErasurePlace, one: EndUser): Promise<Page> {
  const { workspaceId, after } = place;
  const [page] = await tx.query<PageRow>(pageSql("requests"), [workspaceId, after, one.endUser]);
  const { last, mine } = page!;
  const next: ErasurePlace =
    last === null ? { workspaceId, stage: "tasks", after: "" } : { ...place, after: last };
  if (mine.length === 0 || one.dryRun) return { erased: { requests: mine.length }, next };
  await tx.query("set local enable_seqscan = off");
  const { endUser, token } = one;
  await tx.query(nameSql, [workspaceId, mine, token]);
  await renameInTexts(tx, { workspaceId, ids: mine, endUser, token });
  const bodies = await countOf(tx, bodiesSql, [workspaceId, mine]);
  const files = await countOf(tx, filesSql, [workspaceId, mine]);
  return { erased: { requests: mine.length, bodies, files }, next };
}

/** Of tasks: those that have ended go, as retention has it; one under way is named anew when it has ended. */
async function tasksPage(tx: Queryable, place: ErasurePlace, one: EndUser): Promise<Page> {
  const { workspaceId, after } = place;
  const [page] = await tx.query<PageRow>(pageSql("tasks"), [workspaceId, after, one.endUser]);
  const { last, mine } = page!;
  const next: ErasurePlace =
    last === null ? { workspaceId, stage: "rest", after: "" } : { ...place, after: last };
  if (mine.length === 0) return { erased: {}, next };
  if (one.dryRun) return { erased: { tasks: mine.length }, next };
  const tasks = await countOf(tx, goneTasksSql, [workspaceId, mine]);
  return { erased: { tasks, tasks_under_way: mine.length - tasks }, next };
}

const cacheCountSql = "select count(*)::integer as n from cached_answers where workspace_id = $1";
const cacheSql = `
  with gone as (delete from cached_answers where ctid = any(array(
    select ctid from cached_answers where workspace_id = $1 limit ${rowsMax})) returning 1)
  select count(*)::integer as n from gone`;

/** Sums, and the cache: nobody can tell whose answers are in it, so all of the workspace's go. */
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

/** The next page; undefined at the end. A transaction of its own. */
export function eraseEndUserPage(
  database: Database,
  place: ErasurePlace,
  one: EndUser,
): Promise<Page> {
  return database.transaction((tx) => pages[place.stage](tx, place, one));
}

/** The workspace after this one; undefined after the last. */
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
