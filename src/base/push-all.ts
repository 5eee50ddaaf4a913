/** Appends lists of any length. */

/** Appends items one by one. `push(...items)` fails from about 120,000 arguments on, and lists of callers may be longer. */
export function pushAll<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}
