/**
 * Notes on entries of an allowlist that allow nothing now, printed beside the answer. A typing mistake is no error, because such a
 * model may be added later. ALLOW rows.
 */
import type { Json } from "./remote-api.ts";

/** Writes to standard error, so that programs can parse standard output. */
export function noteModels(record: Json): void {
  for (const line of modelNotes(record)) console.error(`note: ${line}`);
}

/** Returns the notes on a key, a workspace or an organization, as the management API returned it. */
function modelNotes(record: Json): string[] {
  // Earlier gateways do not send this field.
  const unknown = (record.unknown_models ?? []) as Json[];
  const names = new Set(unknown.map(({ name }) => name));
  const left = ((record.out_of_scope_models ?? []) as string[]).filter((id) => !names.has(id));
  return [
    ...unknown.map(unknownNote),
    ...left.slice(0, leftMax).map((id) => `"${id}" cannot be called now: ${why}`),
  ];
}

const leftMax = 20;
const why = "a layer above, or the configuration, leaves it out";

const unknownNote = ({ name, did_you_mean: meant, is_alias: isAlias }: Json): string => {
  if (isAlias)
    return `"${name}" is an alias of "${meant}"; an allowlist takes ids: name "${meant}"`;
  const hint = meant === null ? "tollgate models lists them" : `did you mean "${meant}"?`;
  return `there is no model "${name}" now: ${hint}`;
};
