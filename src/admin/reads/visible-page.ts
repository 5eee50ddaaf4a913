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
  partOf,
  scanMsMax,
  stepsBack,
} from "./scan-steps.ts";
import type { Trail } from "./trails.ts";
import {
  idBounds,
  nameOf,
  ofKeysWorkspace,
  readNames,
  scanEnd,
  seesMany,
  type NamePage,
  type NameRow,
  type RowName,
  type ScanEnd,
  type TrailFilter,
} from "./visible-ids.ts";

/** A page over many workspaces with rare conditions: searches until its time is used up. */
async function listStepwise(
  database: Queryable,
  trail: Trail,
  filter: TrailFilter,
  limit: number,
): Promise<NamePage> {
  const found: RowName[] = [];
  const bounds = idBounds(trail, filter);
  const beganMs = performance.now();
  let [stepMs, steps] = [beganMs, 0];
  for (const step of stepsBack(bounds, Date.now(), firstOf(bounds.high))) {
    const wanted = { low: step.low, high: step.high, most: limit + 1 - found.length };
    found.push(...(await readNames(database, trail, filter, wanted)).map(nameOf));
    const names = found.slice(0, limit);
    if (step.low === bounds.low && found.length <= limit) break;
    const last = found.length > limit ? names.at(-1)!.id : undefined;
    const scannedTo = new Date(idMs(last === undefined ? step.low : partOf(last)!) ?? 0);
    if (last !== undefined) return { names, nextCursor: last, scannedTo };
    const nowMs = performance.now();
    const part = endPart(step, nextFirst(step, nowMs - stepMs));
    steps += 1;
    if (nowMs - beganMs > scanMsMax && steps > 1)
      return { names, nextCursor: `${trail.prefixes[0]}${part}`, scannedTo };
    stepMs = nowMs;
  }
  return { names: found, nextCursor: null, scannedTo: null };
}

/** Returns a page of visible row names. @throws GatewayError `invalid_value` (limit, cursor) */
export async function listVisible(
  database: Queryable,
  trail: Trail,
  asked: TrailFilter,
): Promise<NamePage> {
  const limit = pageLimit(asked.limit);
  const filter = await ofKeysWorkspace(database, asked);
  if (filter.rare === undefined || filter.rare.length === 0)
    return listNear(database, trail, filter, { limit });
  if (await seesMany(database, filter)) return listStepwise(database, trail, filter, limit);
  return listNear(database, trail, filter, { limit, end: await scanEnd(database, trail, filter) });
}

/** Returns a page searched as far back as `end`. */
async function listNear(
  database: Queryable,
  trail: Trail,
  filter: TrailFilter,
  { limit, end }: { readonly limit: number; readonly end?: ScanEnd | undefined },
): Promise<NamePage> {
  const bounds = idBounds(trail, filter);
  const all = { low: end?.part ?? bounds.low, high: bounds.high, most: limit + 1 };
  let rows: NameRow[] = [];
  for (const low of trail.inParts === true ? nearLows(all) : [all.low]) {
    rows = await readNames(database, trail, filter, { ...all, low });
    if (rows.length > limit) break;
  }
  const names = rows.slice(0, limit).map(nameOf);
  if (rows.length > limit)
    return { names, nextCursor: names.at(-1)!.id, scannedTo: end?.at ?? null };
  const nextCursor = end === undefined ? null : `${trail.prefixes[0]}${end.part}`;
  return { names, nextCursor, scannedTo: end?.at ?? null };
}
