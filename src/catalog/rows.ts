/** The objects of a file's lists, with where each stands. Works on files that breach the schema too. */
import { isObject, type WireObject } from "../base/json.ts";
import type { Path } from "./mistakes.ts";

export interface Row {
  readonly path: Path;
  readonly row: WireObject;
}

/** The objects of the list under `key`; none where there is no list. */
export function rowsAt(parent: WireObject, key: string, base: Path): Row[] {
  const rows = parent[key];
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row: unknown, index) =>
    isObject(row) ? [{ path: [...base, key, index], row }] : [],
  );
}

/** What stands at a path of a file; undefined where there is nothing. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path)
    value = isObject(value) || Array.isArray(value) ? (value as WireObject)[step] : undefined;
  return value;
}

/** The object under `key`; undefined where there is none. */
export function rowAt({ path, row }: Row, key: string): Row | undefined {
  const value = row[key];
  return isObject(value) ? { path: [...path, key], row: value } : undefined;
}
