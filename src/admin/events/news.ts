/** What was written since a moment: names of log rows, tasks and callbacks, of every workspace. */
import type { Queryable } from "../../storage/index.ts";
import type { RowName } from "../reads/visible-ids.ts";

/** The kinds of rows that can be followed. */
export type RowTopic = "requests" | "tasks" | "deliveries";

export interface NewName extends RowName {
  readonly topic: RowTopic;
  /** The transaction that wrote it. */
  readonly written: bigint;
}

export interface News {
  /** All that was written before this transaction could be seen. Whoever goes on from here misses nothing, and may see a row twice. */
  readonly mark: bigint;
  /** The first transaction that has not begun yet. */
  readonly top: bigint;
  readonly names: readonly NewName[];
  /** There were more than are read at once. */
  readonly isCut: boolean;
}

/** Names of one kind that are read at once. */
const newsMax = 1_000;

interface NewsRow {
  readonly mark: bigint;
  readonly top: bigint;
  readonly topic: RowTopic | null;
  readonly workspace_id: string;
  readonly id: string;
  readonly written: bigint;
}

/** The news of some kinds, in one snapshot. Without `since` it tells where to go on from, and no names. */
export async function readNews(
  database: Queryable,
  since: bigint | undefined,
  topics: readonly RowTopic[],
): Promise<News> {
  const rows = await database.query<NewsRow>(
    `select now.mark, now.top, n.topic, n.workspace_id, n.id, n.written
     from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as mark,
       pg_snapshot_xmax(pg_current_snapshot())::text::bigint as top) now
     left join written_since($1::bigint, $2::text[], $3) n on true`,
    [since ?? 0n, since === undefined ? [] : topics, newsMax + 1],
  );
  const { mark, top } = rows[0]!;
  const names = rows.flatMap(({ topic, workspace_id: workspaceId, id, written }) =>
    topic === null ? [] : [{ topic, workspaceId, id, written }],
  );
  const isCut = Map.groupBy(names, ({ topic }) => topic)
    .values()
    .some((of) => of.length > newsMax);
  return { mark, top, names, isCut };
}
