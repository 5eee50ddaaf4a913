/** The live log. */
import { parseUsd } from "../../base/money.ts";
import type { LiveListOptions } from "../../ui/live-list.ts";
import { pageSize, type Filters } from "./filters.ts";
import { listKey, readPage, type Row } from "./queries.ts";

/** The filters that the stream applies; `fits` checks the others. */
const filterOf = ({ ws, key, member, model, provider, status, protocol, http, code }: Filters) => ({
  workspace_id: ws,
  key_id: key,
  member_id: member,
  model,
  provider,
  status,
  protocol,
  http_status: http,
  error_code: code,
});

/** True if a row matches the filters that the stream does not apply; undefined if the row cannot tell. */
function fits(
  row: Row,
  { cost, slower, changed, q, tag, user, asked }: Filters,
): boolean | undefined {
  const isFitting =
    (cost === undefined || parseUsd(row.cost) >= parseUsd(cost)) &&
    (slower === undefined || (row.duration_ms ?? 0) >= Number(slower)) &&
    (changed === undefined || (row.dropped_count ?? 0) > 0);
  if (!isFitting || (q !== undefined && row.error === null)) return false;
  // Stream rows have the error code, but not its message, tags or attempts: only the API can tell.
  return [q, tag, user, asked].every((one) => one === undefined) ? true : undefined;
}

export const liveCalls = (filters: Filters, enabled: boolean): LiveListOptions<Row> => ({
  topic: "requests",
  filter: filterOf(filters),
  enabled,
  queryKey: listKey(filters),
  readFirst: () => readPage(filters),
  pageSize,
  fits: (row) => fits(row, filters),
});
