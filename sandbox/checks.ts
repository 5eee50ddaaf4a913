/** Small readers the vendors' strict tables share. What is refused, and in which words, stays with each vendor. */
import type { Json } from "./json.ts";
import { asList, asObject } from "./json.ts";
import type { Failure } from "./refusal.ts";
import type { Check } from "./vendor.ts";
import { Refusal } from "./refusal.ts";

/** A check of the body that answers 400 with the failure it finds. */
export function refuseWhen(find: (body: Json) => Failure | undefined): Check {
  return ({ body }) => {
    const failure = find(body);
    if (failure) throw new Refusal(400, failure);
  };
}

/** The objects of a list with their places. */
export function entriesOf(value: unknown): [number, Json][] {
  return asList(value).map((item, index) => [index, asObject(item)]);
}

/** The first field of an object that is not in the list. */
export function unknownField(value: Json, known: ReadonlySet<string>): string | undefined {
  return Object.keys(value).find((name) => !known.has(name));
}

/** The first failure that one of the items has. */
export function firstFailure<Item>(
  items: Iterable<Item>,
  find: (item: Item) => Failure | undefined,
): Failure | undefined {
  for (const item of items) {
    const failure = find(item);
    if (failure) return failure;
  }
  return undefined;
}
