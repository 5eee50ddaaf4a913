/**
 * Attributes that many spans share, cached by their values: there are few combinations of model, status and route, and each is made and
 * encoded once. Ids, which never repeat, do not belong here.
 */
import { SharedPart, type Attributes } from "./tracing.ts";

/** Values may come from callers and vendors (model names), so the cache is bounded: when it is full, it is cleared. */
const partsMax = 1_000;
/** The most parts with the same first value, because they are searched one by one. */
const alikeMax = 50;

interface Known<Values> {
  readonly values: Values;
  readonly part: SharedPart;
}

const isSame = (values: readonly unknown[], others: readonly unknown[]): boolean => {
  for (let index = 0; index < values.length; index += 1)
    if (values[index] !== others[index]) return false;
  return true;
};

/**
 * Returns a function that makes a part from values, or returns the cached one. It finds parts by their first value, which should be the one
 * that differs most.
 */
export function sharedParts<Values extends readonly unknown[]>(
  make: (...values: Values) => { readonly attributes: Attributes; readonly name?: string },
): (...values: Values) => SharedPart {
  const byFirst = new Map<unknown, Known<Values>[]>();
  let count = 0;
  return (...values) => {
    const alike = byFirst.get(values[0]);
    if (alike !== undefined)
      for (const { values: others, part } of alike) if (isSame(values, others)) return part;
    const { attributes, name } = make(...values);
    const known = { values, part: new SharedPart(attributes, name) };
    if (count >= partsMax || (alike !== undefined && alike.length >= alikeMax)) {
      byFirst.clear();
      count = 0;
    }
    count += 1;
    const kept = byFirst.get(values[0]);
    if (kept === undefined) byFirst.set(values[0], [known]);
    else kept.push(known);
    return known.part;
  };
}
