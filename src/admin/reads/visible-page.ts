/**
 * Pages of visible row names: searched from near to far, and with rare conditions only as far back as a page may look.
 * docs/management.md.
 */
import { idMs } from "../../base/ids.ts";
import type { Queryable } from "../../storage/index.ts";
import { pageLimit } from "../../tenancy/index.ts";
import {
  endPart,
  firstOf,
  nearLows,
  nextFirst,
  idPartOf,
  scanMsMax,
  stepsBack,
} from "./scan-steps.ts";
import type { LogTable } from "./log-tables.ts";
import {
  idBounds,
  nameOf,
  withWorkspaceOfKey,
  readNames,
  scanEnd,
  coversManyWorkspaces,
  type NamePage,
  type NameRow,
  type RowName,
  type ScanEnd,
  type LogFilter,
} from "./visible-ids.ts";

/** A page over many workspaces with rare conditions: searches until its time is used up. */
async function listStepwise(
  database: Queryable,
  logTable: LogTable,
  filter: LogFilter,
  limit: number,
): Promise<NamePage> {
  const found: RowName[] = [];
  const bounds = idBounds(logTable, filter);
  const beganMs = performance.now();
  let [stepMs, steps] = [beganMs, 0];
  for (const step of stepsBack(bounds, Date.now(), firstOf(bounds.high))) {
    const query = { low: step.low, high: step.high, most: limit + 1 - found.length };
    found.push(...(await readNames(database, logTable, filter, query)).map(nameOf));
    const names = found.slice(0, limit);
    if (step.low === bounds.low && found.length <= limit) break;
    const last = found.length > limit ? names.at(-1)!.id : undefined;
    const scannedTo = new Date(idMs(last === undefined ? step.low : idPartOf(last)!) ?? 0);
    if (last !== undefined) return { names, nextCursor: last, scannedTo };
    const nowMs = performance.now();
    const part = endPart(step, nextFirst(step, nowMs - stepMs));
    steps += 1;
    if (nowMs - beganMs > scanMsMax && steps > 1)
      return { names, nextCursor: `${logTable.prefixes[0]}${part}`, scannedTo };
    stepMs = nowMs;
  }
  return { names: found, nextCursor: null, scannedTo: null };
}

/** Returns a page of visible row names. @throws GatewayError `invalid_value` (limit, cursor) */
export async function listVisible(
  database: Queryable,
  logTable: LogTable,
  asked: LogFilter,
): Promise<NamePage> {
  const limit = pageLimit(asked.limit);
  const filter = await withWorkspaceOfKey(database, asked);
  if (filter.rare === undefined || filter.rare.length === 0)
    return listNear(database, logTable, filter, { limit });
  if (await coversManyWorkspaces(database, filter))
    return listStepwise(database, logTable, filter, limit);
  return listNear(database, logTable, filter, {
    limit,
    end: await scanEnd(database, logTable, filter),
  });
}

/** Returns a page searched as far back as `end`. */
async function listNear(
  database: Queryable,
  logTable: LogTable,
  filter: LogFilter,
  { limit, end }: { readonly limit: number; readonly end?: ScanEnd | undefined },
): Promise<NamePage> {
  const bounds = idBounds(logTable, filter);
  const all = { low: end?.part ?? bounds.low, high: bounds.high, most: limit + 1 };
  let rows: NameRow[] = [];
  for (const low of logTable.isPartitioned === true ? nearLows(all) : [all.low]) {
    rows = await readNames(database, logTable, filter, { ...all, low });
    if (rows.length > limit) break;
  }
  const names = rows.slice(0, limit).map(nameOf);
  if (rows.length > limit)
    return { names, nextCursor: names.at(-1)!.id, scannedTo: end?.at ?? null };
  const nextCursor = end === undefined ? null : `${logTable.prefixes[0]}${end.part}`;
  return { names, nextCursor, scannedTo: end?.at ?? null };
}
