/**
 * What is typed into a form of one object. Untouched it follows the object as it is read again; once something is typed, it
 * stays with the object as it was then, so that a change says what it was decided on.
 */
import { useState } from "react";

export interface Draft<Shown, Fields> {
  /** The object that the fields are of: what `If-Match` names. */
  readonly base: Shown;
  readonly fields: Fields;
  readonly isChanged: boolean;
  readonly set: (change: Partial<Fields>) => void;
  readonly discard: () => void;
}

export function useDraft<Shown, Fields extends object>(
  shown: Shown,
  fieldsOf: (shown: Shown) => Fields,
): Draft<Shown, Fields> {
  const [edit, setEdit] = useState<{ readonly base: Shown; readonly fields: Fields }>();
  const base = edit?.base ?? shown;
  const fields = edit?.fields ?? fieldsOf(shown);
  return {
    base,
    fields,
    isChanged: edit !== undefined && JSON.stringify(fields) !== JSON.stringify(fieldsOf(base)),
    set: (change) => setEdit({ base, fields: { ...fields, ...change } }),
    discard: () => setEdit(undefined),
  };
}

/** The fields of a form that differ from what its object has. */
export function changedFields<Fields extends object>(
  before: Fields,
  after: Fields,
): Partial<Fields> {
  const names = Object.keys(after) as (keyof Fields)[];
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map((name) => [name, after[name]]),
  ) as Partial<Fields>;
}
