/**
 * Numbers that no double holds, in what a hook gives back. A hook in JavaScript reads them as doubles and writes those: where such a
 * double stands in the place of a long number, the long number is meant.
 */
import { isDeepStrictEqual } from "node:util";
import { exactly, isRawNumber } from "../base/exact-numbers.ts";

/** A value as doubles have it, and as it was read. */
export interface Read {
  readonly value: unknown;
  readonly exact: unknown;
}

type Members = Readonly<Record<string, unknown>>;
type Items = readonly unknown[];

const holds = (value: unknown): value is Members | Items =>
  typeof value === "object" && value !== null && !isRawNumber(value);

/** `given` with the digits that `before` has in the same places; digits that a hook wrote itself are its own. */
export function withDigits(given: unknown, before: Read): unknown {
  if (!holds(given)) return given === before.value ? before.exact : given;
  const { value } = before;
  if (!holds(value) || exactly(value) === value) return given;
  if (Array.isArray(given)) return Array.isArray(value) ? itemsOf(given, before) : given;
  const [values, exacts] = [value as Members, before.exact as Members];
  const members = Object.entries(given).map(([name, member]): [string, unknown] => [
    name,
    Object.hasOwn(values, name)
      ? withDigits(member, { value: values[name], exact: exacts[name] })
      : member,
  ]);
  return Object.fromEntries(members);
}

/** Items that a hook put between others, or took away, move those behind them: behind the first that differs they are counted from the end. */
function itemsOf(given: Items, before: Read): Items {
  const [values, exacts] = [before.value as Items, before.exact as Items];
  const moved = values.length - given.length;
  const same = moved === 0 ? given.length : leading(given, values, exacts);
  return given.map((item, index) => {
    const at = index < same ? index : index + moved;
    return withDigits(item, { value: values[at], exact: exacts[at] });
  });
}

/** How many items at the beginning are as they were. */
function leading(given: Items, values: Items, exacts: Items): number {
  const isSame = (item: unknown, index: number): boolean =>
    index < values.length &&
    (isDeepStrictEqual(item, values[index]) || isDeepStrictEqual(item, exacts[index]));
  const other = given.findIndex((item, index) => !isSame(item, index));
  return other === -1 ? given.length : other;
}
