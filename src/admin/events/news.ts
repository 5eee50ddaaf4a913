/** Finds the rows written since a mark: names of log rows, tasks and callbacks, of all workspaces. */
import type { Queryable } from "../../storage/index.ts";
import type { RowName } from "../reads/visible-ids.ts";

/** The kinds of rows that a reader can follow. */
export type RowTopic = "requests" | "tasks" | "deliveries";

export interface NewName extends RowName {
  readonly topic: RowTopic;
  /** The id of the transaction that wrote the row. */
  readonly written: bigint;
}

export interface News {
  /**
   * The oldest transaction still open: everything that earlier ones wrote was visible. A reader that resumes here misses nothing,
   * and may see a row twice.
   */
  readonly mark: bigint;
  /** The first transaction id that is not assigned yet. */
  readonly top: bigint;
  readonly names: readonly NewName[];
  /** There were more than one read returns. */
  readonly isCut: boolean;
}

/** Names read at once, per kind. */
const newsMax = 1_000;

interface NewsRow {
  readonly mark: bigint;
  readonly top: bigint;
  readonly topic: RowTopic | null;
  readonly workspace_id: string;
  readonly id: string;
  readonly written: bigint;
}

/** Reads the news of some kinds in one snapshot. Without `since`, returns only where to resume, and no names. */
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
