/** The request log as a list to browse: small rows, without plans and attempts. docs/management.md. */
import { formatUsd } from "../../base/money.ts";
import { renderUsage } from "../../base/usage.ts";
import type { Queryable } from "../../storage/index.ts";
import { boundedNames } from "./name-bounds.ts";
import { findRequests, type RenderedPage, type RequestFilter } from "./requests.ts";
import type { RowName } from "./visible-ids.ts";

interface HeadlineRow {
  readonly created_at: Date;
  readonly usage: object | null;
  readonly cost_nano: bigint;
  readonly id: string;
  readonly workspace_id: string;
  readonly owner: string | null;
}

/** A small row, with the owner of its key. */
export interface Headline {
  readonly ownerId: string | null;
  readonly record: { readonly id: string; readonly workspace_id: string };
}

/** Lists the same rows as `listRequests`, at a tenth of their size. @throws GatewayError `invalid_value` (limit, cursor, from) */
export async function listRequestHeadlines(
  database: Queryable,
  filter: RequestFilter,
): Promise<RenderedPage> {
  const { names, ...page } = await findRequests(database, filter);
  const rows = await readHeadlines(database, names);
  return { ...page, records: rows.map(({ record }) => record) };
}

/** Reads small rows by their names, in the same order. */
export async function readHeadlines(
  database: Queryable,
  names: readonly RowName[],
): Promise<Headline[]> {
  const { params, bounds } = boundedNames(names);
  const rows = await database.query<HeadlineRow>(
    `select x.id, x.created_at, x.workspace_id, x.key_id, k.name as key_name, x.model, x.provider, x.protocol, x.upstream_protocol,
       x.status, x.http_status, x.usage, x.cost_nano, x.duration_ms, x.first_token_ms, x.stream, x.explanation ->> 'error' as error,
       x.explanation ->> 'cache' as cache,
       coalesce(json_array_length(x.attempts), 0) as attempts_count, coalesce(json_array_length(x.dropped), 0) as dropped_count,
       x.tags, x.end_user,
       k.created_by as owner
     from unnest($1::text[], $2::text[]) with ordinality n (workspace_id, id, place)
     join request_log x on x.workspace_id = n.workspace_id and x.id = n.id and ${bounds}
     left join api_keys k on k.workspace_id = x.workspace_id and k.id = x.key_id order by n.place`,
    params,
  );
  return rows.map(({ owner: ownerId, ...row }) => ({ ownerId, record: renderHeadline(row) }));
}

const renderHeadline = ({
  cost_nano: costNano,
  created_at: at,
  usage,
  ...row
}: Omit<HeadlineRow, "owner">) => ({
  ...row,
  created_at: at.toISOString(),
  usage: usage && renderUsage(usage),
  cost: formatUsd(costNano),
});
