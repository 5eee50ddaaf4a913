/** Finds the calls before and after one in a list of the log, with the list's filters. docs/management.md. */
import { idMs, idTime } from "../../base/ids.ts";
import type { Queryable } from "../../storage/index.ts";
import { boundedNames } from "./name-bounds.ts";
import { neighboursByCost } from "./by-cost.ts";
import type { RequestFilter } from "./requests.ts";
import { nearMs, idPartOf } from "./scan-steps.ts";
import { requestTable } from "./log-tables.ts";
import {
  findVisible,
  idBounds,
  withWorkspaceOfKey,
  readNames,
  scanEnd,
  type RowName,
  type LogFilter,
} from "./visible-ids.ts";
import { listVisible } from "./visible-page.ts";

/** Ids of calls; null: none. */
interface Neighbours {
  /** The call above in the list. */
  readonly previous: string | null;
  /** The call below in the list. */
  readonly next: string | null;
}

const oldestFirst = { inside: "x.id", outside: "split_part(n.id, '_', 2)" };

/** The lowest id part after this one: all ids have one length. */
const nextIdPart = (part: string): string => `${part}0`;

/** Returns the next newer call, searching the nearest days first as a page does; null: none. */
async function newerThan(
  database: Queryable,
  filter: LogFilter,
  part: string,
): Promise<string | null> {
  const { low: begin, high: end } = idBounds(requestTable, filter);
  const low = nextIdPart(part) > begin ? nextIdPart(part) : begin;
  const scan =
    (filter.rare ?? []).length === 0
      ? undefined
      : await scanEnd(database, requestTable, filter, { low, high: end, way: "up" });
  const high = scan === undefined ? end : nextIdPart(scan.part);
  const near = nearMs.map((ms) => idTime((idMs(low) ?? 0) + ms));
  for (const bound of [...near.filter((one) => one < high), high]) {
    const query = { low, high: bound, most: 1, order: oldestFirst };
    const [row] = await readNames(database, requestTable, filter, query);
    if (row !== undefined) return row.id;
  }
  return null;
}

async function costOf(database: Queryable, name: RowName): Promise<bigint> {
  const { params, bounds } = boundedNames([name]);
  const [row] = await database.query<{ cost_nano: bigint }>(
    `select x.cost_nano from requests x where x.workspace_id = ($1::text[])[1] and x.id = ($2::text[])[1] and ${bounds}`,
    params,
  );
  return row?.cost_nano ?? 0n;
}

/**
 * Returns the calls next to one in the filtered list, which need not contain the call itself. With rare filters, each direction
 * scans as many rows as a page. @throws GatewayError `not_found` for a call that the actor may not see, `invalid_value` (from)
 */
export async function findNeighbours(
  database: Queryable,
  id: string,
  { sort, ...given }: RequestFilter,
): Promise<Neighbours> {
  const name = await findVisible(database, requestTable, id, given.visibility);
  const filter = await withWorkspaceOfKey(database, { ...given, cursor: undefined, limit: 1 });
  const part = idPartOf(id) ?? "";
  if (sort === "cost")
    return neighboursByCost(database, filter, { costNano: await costOf(database, name), part });
  const [previous, older] = await Promise.all([
    newerThan(database, filter, part),
    listVisible(database, requestTable, { ...filter, cursor: id }),
  ]);
  return { previous, next: older.names[0]?.id ?? null };
}
