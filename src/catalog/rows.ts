/** The objects of a file's lists, with their paths. Also works on files that breach the schema. */
import { isObject, type WireObject } from "../base/json.ts";
import type { Path } from "./mistakes.ts";

export interface Row {
  readonly path: Path;
  readonly row: WireObject;
}

/** The objects of the list under `key`; empty if there is no list. */
export function rowsAt(parent: WireObject, key: string, base: Path): Row[] {
  const rows = parent[key];
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row: unknown, index) =>
    isObject(row) ? [{ path: [...base, key, index], row }] : [],
  );
}

/** The value at a path of a file; undefined if there is none. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path)
    value = isObject(value) || Array.isArray(value) ? (value as WireObject)[step] : undefined;
  return value;
}

/** The object under `key`; undefined if there is none. */
export function rowAt({ path, row }: Row, key: string): Row | undefined {
  const value = row[key];
  return isObject(value) ? { path: [...path, key], row: value } : undefined;
}
