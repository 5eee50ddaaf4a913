/** Compares the request with the upstream request, field by field. Pure. */

export type Mark = "same" | "changed" | "dropped" | "added";

export interface ComparedField {
  /** Such as `messages.0.content`. */
  readonly field: string;
  readonly requested: string | undefined;
  readonly sent: string | undefined;
  readonly mark: Mark;
}

/** The most fields of one body that are compared. */
export const fieldsMax = 2_000;

/** The leaves of a JSON value by path, each as JSON, so that "1" differs from 1. */
function leavesOf(value: unknown, path = "", into = new Map<string, string>()) {
  if (into.size >= fieldsMax) return into;
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
    for (const [name, each] of Object.entries(value))
      leavesOf(each, path === "" ? name : `${path}.${name}`, into);
  } else into.set(path, JSON.stringify(value));
  return into;
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function markOf(requested: string | undefined, sent: string | undefined): Mark {
  if (requested === sent) return "same";
  if (requested === undefined) return "added";
  return sent === undefined ? "dropped" : "changed";
}

/**
 * Fields in the order of the request, then the added ones. Undefined if a body is absent or not JSON. Leaves out fields that a long
 * body may have beyond its first 2,000.
 */
export function comparisonOf(
  request: string | null,
  sent: string | null,
): readonly ComparedField[] | undefined {
  const [before, after] = [parsed(request), parsed(sent)];
  if (before === undefined || after === undefined) return undefined;
  const [requested, given] = [leavesOf(before), leavesOf(after)];
  const isUnknown = (side: ReadonlyMap<string, string>, field: string): boolean =>
    side.size >= fieldsMax && !side.has(field);
  return [...new Set([...requested.keys(), ...given.keys()])]
    .filter((field) => !isUnknown(requested, field) && !isUnknown(given, field))
    .map((field) => {
      const [was, is] = [requested.get(field), given.get(field)];
      return { field, requested: was, sent: is, mark: markOf(was, is) };
    });
}
