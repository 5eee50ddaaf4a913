/**
 * The draft of a form for one object. Without edits it follows the object as it is read again. From the first edit on, it keeps the
 * object as it was then, on which the change is based.
 */
import { useState } from "react";

export interface Draft<Shown, Fields> {
  /** The object that the fields come from, and that `If-Match` names. */
  readonly base: Shown;
  readonly fields: Fields;
  readonly isChanged: boolean;
  readonly set: (change: Partial<Fields>) => void;
  /** Ends the draft after its fields were saved. Fields that were edited since stay, now based on the saved object. */
  readonly settle: (saved: Shown) => void;
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
    settle: (saved) =>
      setEdit((now) => {
        const later = now === undefined ? {} : changedFields(fields, now.fields);
        if (Object.keys(later).length === 0) return undefined;
        return { base: saved, fields: { ...fieldsOf(saved), ...later } };
      }),
    discard: () => setEdit(undefined),
  };
}

/** Returns the fields that differ from the object's. */
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
