/**
 * Lists the log by cost, the most expensive call first. There is no index on cost, since it would slow each call. A page scans the
 * requested period, up to as many rows as with rare filters, and reports how far back it looked.
 */
import { dayMs } from "../../base/durations.ts";
import { GatewayError } from "../../base/errors.ts";
import type { Queryable } from "../../storage/index.ts";
import { invalidCursor, pageLimit } from "../../tenancy/index.ts";
import { requestTable, type Bind } from "./log-tables.ts";
import {
  idBounds,
  nameOf,
  withWorkspaceOfKey,
  readNames,
  scanEnd,
  type NamePage,
  type LogFilter,
} from "./visible-ids.ts";

const daysMax = 31;

/** `<nano-USD>.<id>` of the previous page's last row. */
const cursorShape = /^(\d{1,18})\.((?:req|task)_[0-9a-z]{26})$/;

const mostExpensiveFirst = {
  inside: "x.cost_nano desc, x.id desc",
  outside: "n.cost_nano desc, split_part(n.id, '_', 2) desc",
  column: "x.cost_nano",
};

/** @throws GatewayError `invalid_value` without a start, or if the period is too long */
function checkPeriod({ from, to = new Date() }: LogFilter): void {
  if (from !== undefined && to.getTime() - from.getTime() <= daysMax * dayMs) return;
  throw new GatewayError(
    "invalid_value",
    `Sorting by cost covers at most ${daysMax} days: set \`from\`, and for an earlier period \`to\` too.`,
    { param: "from" },
  );
}

const cheapestFirst = {
  inside: "x.cost_nano, x.id",
  outside: "n.cost_nano, split_part(n.id, '_', 2)",
  column: "x.cost_nano",
};

/** Condition for rows that cost less than a row (`<`) or more (`>`); of equal cost, for older or newer ones. */
const costCondition =
  (than: "<" | ">", { costNano, part }: { readonly costNano: bigint; readonly part: string }) =>
  (bind: Bind): string =>
    `(x.cost_nano, split_part(x.id, '_', 2)) ${than} (${bind(costNano)}::bigint, ${bind(part)}::text)`;

/** Condition for rows after the previous page's last one. @throws GatewayError `invalid_value` for an invalid cursor */
function afterCursor(cursor: string): (bind: Bind) => string {
  const [, cost, id] = cursorShape.exec(cursor) ?? [];
  if (cost === undefined || id === undefined) throw invalidCursor();
  const part = id.slice(id.indexOf("_") + 1);
  return costCondition("<", { costNano: BigInt(cost), part });
}

/** A page of the calls that the actor sees, the most expensive first. @throws GatewayError `invalid_value` (limit, cursor, from) */
export async function listByCost(
  database: Queryable,
  { cursor, ...asked }: LogFilter,
): Promise<NamePage> {
  const limit = pageLimit(asked.limit);
  checkPeriod(asked);
  const filter = await withWorkspaceOfKey(database, asked);
  const after = cursor === undefined ? [] : [afterCursor(cursor)];
  const end = await scanEnd(database, requestTable, filter);
  const { low, high } = idBounds(requestTable, filter);
  const rows = await readNames(
    database,
    requestTable,
    { ...filter, rare: [...(filter.rare ?? []), ...after] },
    { low: end?.part ?? low, high, most: limit + 1, order: mostExpensiveFirst },
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    names: page.map(nameOf),
    nextCursor: hasMore ? `${last.cost_nano}.${last.id}` : null,
    scannedTo: end?.at ?? null,
  };
}

/**
 * The calls before and after one in the list by cost, among the same rows as the list; null: none.
 * @throws GatewayError `invalid_value` (from)
 */
export async function neighboursByCost(
  database: Queryable,
  { cursor: _cursor, ...filter }: LogFilter,
  of: { readonly costNano: bigint; readonly part: string },
): Promise<{ readonly previous: string | null; readonly next: string | null }> {
  checkPeriod(filter);
  const end = await scanEnd(database, requestTable, filter);
  const { low, high } = idBounds(requestTable, filter);
  const nearest = async (than: "<" | ">"): Promise<string | null> => {
    const rare = [...(filter.rare ?? []), costCondition(than, of)];
    const order = than === "<" ? mostExpensiveFirst : cheapestFirst;
    const bounds = { low: end?.part ?? low, high, most: 1, order };
    const [row] = await readNames(database, requestTable, { ...filter, rare }, bounds);
    return row?.id ?? null;
  };
  const [previous, next] = await Promise.all([nearest(">"), nearest("<")]);
  return { previous, next };
}
