/**
 * Lists the log by cost, the most expensive call first. There is no index on cost, since it would slow each call. A page scans the
 * requested period, up to as many rows as with rare filters, and reports how far back it looked.
 */
import { dayMs } from "../../base/durations.ts";
import { GatewayError } from "../../base/errors.ts";
import type { Queryable } from "../../storage/index.ts";
import { invalidCursor, pageLimit } from "../../tenancy/index.ts";
import { requestTrail, type Bind } from "./trails.ts";
import {
  idBounds,
  nameOf,
  ofKeysWorkspace,
  readNames,
  scanEnd,
  type NamePage,
  type TrailFilter,
} from "./visible-ids.ts";

const dearestDaysMax = 31;

/** `<nano-USD>.<id>` of the previous page's last row. */
const cursorShape = /^(\d{1,18})\.((?:req|task)_[0-9a-z]{26})$/;

const dearestFirst = {
  inside: "x.cost_nano desc, x.id desc",
  outside: "n.cost_nano desc, split_part(n.id, '_', 2) desc",
  column: "x.cost_nano",
};

/** @throws GatewayError `invalid_value` without a start, or if the period is too long */
function checkPeriod({ from, to = new Date() }: TrailFilter): void {
  if (from !== undefined && to.getTime() - from.getTime() <= dearestDaysMax * dayMs) return;
  throw new GatewayError(
    "invalid_value",
    `Sorting by cost covers at most ${dearestDaysMax} days: set \`from\`, and for an earlier period \`to\` too.`,
    { param: "from" },
  );
}

const cheapestFirst = {
  inside: "x.cost_nano, x.id",
  outside: "n.cost_nano, split_part(n.id, '_', 2)",
  column: "x.cost_nano",
};

/** Condition for rows that cost less than a row (`<`) or more (`>`); of equal cost, for older or newer ones. */
const beside =
  (than: "<" | ">", { costNano, part }: { readonly costNano: bigint; readonly part: string }) =>
  (bind: Bind): string =>
    `(x.cost_nano, split_part(x.id, '_', 2)) ${than} (${bind(costNano)}::bigint, ${bind(part)}::text)`;

/** Condition for rows after the previous page's last one. @throws GatewayError `invalid_value` for an invalid cursor */
function behind(cursor: string): (bind: Bind) => string {
  const [, cost, id] = cursorShape.exec(cursor) ?? [];
  if (cost === undefined || id === undefined) throw invalidCursor();
  const part = id.slice(id.indexOf("_") + 1);
  return beside("<", { costNano: BigInt(cost), part });
}

/** A page of the calls that the actor sees, the most expensive first. @throws GatewayError `invalid_value` (limit, cursor, from) */
export async function listDearest(
  database: Queryable,
  { cursor, ...asked }: TrailFilter,
): Promise<NamePage> {
  const limit = pageLimit(asked.limit);
  checkPeriod(asked);
  const filter = await ofKeysWorkspace(database, asked);
  const after = cursor === undefined ? [] : [behind(cursor)];
  const end = await scanEnd(database, requestTrail, filter);
  const { low, high } = idBounds(requestTrail, filter);
  const rows = await readNames(
    database,
    requestTrail,
    { ...filter, rare: [...(filter.rare ?? []), ...after] },
    { low: end?.part ?? low, high, most: limit + 1, order: dearestFirst },
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
export async function besideByCost(
  database: Queryable,
  { cursor: _cursor, ...filter }: TrailFilter,
  of: { readonly costNano: bigint; readonly part: string },
): Promise<{ readonly previous: string | null; readonly next: string | null }> {
  checkPeriod(filter);
  const end = await scanEnd(database, requestTrail, filter);
  const { low, high } = idBounds(requestTrail, filter);
  const nearest = async (than: "<" | ">"): Promise<string | null> => {
    const rare = [...(filter.rare ?? []), beside(than, of)];
    const order = than === "<" ? dearestFirst : cheapestFirst;
    const bounds = { low: end?.part ?? low, high, most: 1, order };
    const [row] = await readNames(database, requestTrail, { ...filter, rare }, bounds);
    return row?.id ?? null;
  };
  const [previous, next] = await Promise.all([nearest(">"), nearest("<")]);
  return { previous, next };
}
