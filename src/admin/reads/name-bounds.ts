/** Between which ids the rows of a page are: with it a plan has only the parts of the log that they are in (storage/baseline/10_request_parts.sql). */
import { requestTrail } from "./trails.ts";
import { nameParams, type RowName } from "./visible-ids.ts";

const wellFormed = /^(?:req|task)_[0-9a-z]{26}$/;

/** A page's rows of the log as {@link nameParams} has them, and a condition on `x.id` with parameters that follow those. */
export function boundedNames(names: readonly RowName[]): {
  readonly params: unknown[];
  readonly bounds: string;
} {
  const params: unknown[] = nameParams(names);
  if (!names.every(({ id }) => wellFormed.test(id))) return { params, bounds: "true" };
  const arms = requestTrail.prefixes.flatMap((prefix) => {
    const ids = names.map(({ id }) => id).filter((id) => id.startsWith(prefix));
    ids.sort();
    if (ids.length === 0) return [];
    return [`x.id between $${params.push(ids[0])} and $${params.push(ids.at(-1))}`];
  });
  return { params, bounds: arms.length === 0 ? "false" : `(${arms.join(" or ")})` };
}
