/**
 * Id bounds of a page's rows: with them, a query plan has only the parts of the log that hold the rows
 * (storage/baseline/10_request_parts.sql).
 */
import { requestTable } from "./log-tables.ts";
import { nameParams, type RowName } from "./visible-ids.ts";

const wellFormed = /^(?:req|task)_[0-9a-z]{26}$/;

/** Returns {@link nameParams} of a page's log rows, and a condition on `x.id` with further parameters after those. */
export function boundedNames(names: readonly RowName[]): {
  readonly params: unknown[];
  readonly bounds: string;
} {
  const params: unknown[] = nameParams(names);
  if (!names.every(({ id }) => wellFormed.test(id))) return { params, bounds: "true" };
  const arms = requestTable.prefixes.flatMap((prefix) => {
    const ids = names.map(({ id }) => id).filter((id) => id.startsWith(prefix));
    ids.sort();
    if (ids.length === 0) return [];
    return [`x.id between $${params.push(ids[0])} and $${params.push(ids.at(-1))}`];
  });
  return { params, bounds: arms.length === 0 ? "false" : `(${arms.join(" or ")})` };
}
