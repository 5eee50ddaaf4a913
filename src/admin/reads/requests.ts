/** The request log as the management API shows it. docs/management.md. */
import { formatUsd } from "../../base/money.ts";
import { renderUsage } from "../../base/usage.ts";
import type { Catalog } from "../../catalog/index.ts";
import type { Queryable } from "../../storage/index.ts";
import { listByCost } from "./by-cost.ts";
import { boundedNames } from "./name-bounds.ts";
import { chargeLines } from "./price-lines.ts";
import { requestTable } from "./log-tables.ts";
import type { NamePage, RowName, LogFilter } from "./visible-ids.ts";
import { listVisible } from "./visible-page.ts";

/** A row of the view `request_log`. */
export interface RequestLogRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly created_at: Date;
  readonly key_id: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly protocol: string | null;
  readonly upstream_protocol: string | null;
  readonly status: string | null;
  readonly http_status: number | null;
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly usage_source: string | null;
  readonly cost_nano: bigint;
  readonly duration_ms: number | null;
  readonly first_token_ms: number | null;
  readonly dropped: readonly string[] | null;
  readonly notes: readonly string[] | null;
  readonly attempts: readonly object[] | null;
  readonly explanation: Explanation | null;
  readonly price: object | null;
  readonly stream: boolean | null;
  readonly error_message: string | null;
  readonly tags: Readonly<Record<string, string>> | null;
  readonly end_user: string | null;
}

/** The log's explanation of a call; `reserved_nano` only for tasks. */
interface Explanation {
  readonly error?: string | null;
  readonly reserved_nano?: string;
  readonly cache?: string;
}

/** A page of rendered rows. */
export interface RenderedPage {
  readonly records: readonly object[];
  readonly nextCursor: string | null;
  /** How far back a page with rare filters looked; null: to the end. */
  readonly scannedTo: Date | null;
}

export interface RequestFilter extends LogFilter {
  /** `cost`: the most expensive first. Newest first if absent. */
  readonly sort?: "cost" | undefined;
}

/** Finds the row names of a page of the log. @throws GatewayError `invalid_value` (limit, cursor, from) */
export const findRequests = (
  database: Queryable,
  { sort, ...filter }: RequestFilter,
): Promise<NamePage> =>
  sort === "cost" ? listByCost(database, filter) : listVisible(database, requestTable, filter);

/**
 * Lists log rows that the actor sees, with their price lines (`catalog`: price-lines.ts). @throws GatewayError `invalid_value`
 * (limit, cursor, from)
 */
export async function listRequests(
  database: Queryable,
  filter: RequestFilter,
  catalog?: Catalog,
): Promise<RenderedPage> {
  const { names, ...page } = await findRequests(database, filter);
  const { everything } = filter.visibility;
  const rows = await readRows(database, names);
  const records = rows.map((row) => ({
    ...renderRequest(row, everything),
    ...chargeLines(row, catalog),
  }));
  return { ...page, records };
}

/** Reads rows by their names, in the same order. */
export function readRows(database: Queryable, names: readonly RowName[]): Promise<RequestLogRow[]> {
  const { params, bounds } = boundedNames(names);
  return database.query<RequestLogRow>(
    `select x.* from unnest($1::text[], $2::text[]) with ordinality n (workspace_id, id, place)
     join request_log x on x.workspace_id = n.workspace_id and x.id = n.id and ${bounds} order by n.place`,
    params,
  );
}

/** A row as the actor may see it; `inside`: for organization admins. */
export function renderRequest(row: RequestLogRow, inside: boolean) {
  return {
    id: row.id,
    created_at: row.created_at.toISOString(),
    workspace_id: row.workspace_id,
    key_id: row.key_id,
    model: row.model,
    provider: row.provider,
    protocol: row.protocol,
    upstream_protocol: row.upstream_protocol,
    status: row.status,
    http_status: row.http_status,
    usage: row.usage && renderUsage(row.usage),
    usage_source: row.usage_source,
    cost: formatUsd(row.cost_nano),
    duration_ms: row.duration_ms,
    first_token_ms: row.first_token_ms,
    dropped: row.dropped ?? [],
    notes: row.notes ?? [],
    attempts: renderAttempts(row.attempts ?? [], inside),
    explanation: row.explanation,
    tags: row.tags,
    end_user: row.end_user,
  };
}

/** Fields of an attempt that only organization admins see: our account with the vendor, and the vendor's own words. */
const insideNames = ["credential", "upstream_model", "message"];
/** Internal: distinguishes a credential from its predecessor. Task rows written by an older release have it too. */
const ownNames = ["key_hash"];

/** Attempts as the actor may see them; `inside`: for organization admins. */
export function renderAttempts(attempts: readonly object[], inside: boolean): readonly object[] {
  const hidden = new Set(inside ? ownNames : [...ownNames, ...insideNames]);
  return attempts.map((attempt) =>
    Object.fromEntries(Object.entries(attempt).filter(([name]) => !hidden.has(name))),
  );
}
