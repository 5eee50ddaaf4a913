/**
 * Restores numbers beyond double precision in what a hook returns. A hook in JavaScript reads and writes doubles. If it returns the
 * double of a long number in the same place, the long number is meant.
 */
import { isDeepStrictEqual } from "node:util";
import { exactTwinOf, isRawNumber } from "../base/exact-numbers.ts";

/** A value with numbers as doubles, and with their exact digits. */
export interface Read {
  readonly value: unknown;
  readonly exact: unknown;
}

type Members = Readonly<Record<string, unknown>>;
type Items = readonly unknown[];

const holds = (value: unknown): value is Members | Items =>
  typeof value === "object" && value !== null && !isRawNumber(value);

/** Returns `given` with the exact digits of numbers that a hook left unchanged, from the same places of `before`. */
export function withDigits(given: unknown, before: Read): unknown {
  if (!holds(given)) return given === before.value ? before.exact : given;
  const { value } = before;
  if (!holds(value) || exactTwinOf(value) === value) return given;
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

/** Inserted or removed items shift later ones: items after the first difference are matched from the end of the list. */
function itemsOf(given: Items, before: Read): Items {
  const [values, exacts] = [before.value as Items, before.exact as Items];
  const moved = values.length - given.length;
  const same = moved === 0 ? given.length : leading(given, values, exacts);
  return given.map((item, index) => {
    const at = index < same ? index : index + moved;
    return withDigits(item, { value: values[at], exact: exacts[at] });
  });
}

/** The number of unchanged items at the beginning. */
function leading(given: Items, values: Items, exacts: Items): number {
  const isSame = (item: unknown, index: number): boolean =>
    index < values.length &&
    (isDeepStrictEqual(item, values[index]) || isDeepStrictEqual(item, exacts[index]));
  const other = given.findIndex((item, index) => !isSame(item, index));
  return other === -1 ? given.length : other;
}
