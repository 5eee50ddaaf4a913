/**
 * Weighted rendezvous hashing: maps each value, such as a session, to one item, the same on every gateway without coordination. Each item
 * gets its share of the values. If one leaves, only its own values move. docs/routing.md.
 */
import { createHash } from "node:crypto";

/** An item that values are mapped to. `weight`: above 0. */
interface Named {
  readonly name: string;
  readonly weight: number;
}

/** Uniform in (0, 1), from the first 48 bits of a digest. */
export function drawOf(value: string, name: string): number {
  const hash = createHash("sha256").update(`${value}\0${name}`).digest();
  return (hash.readUIntBE(0, 6) + 0.5) / 2 ** 48;
}

/** Returns the item of `value`; undefined if there are no items. */
export function rendezvous<Item>(
  value: string,
  items: readonly Item[],
  asNamed: (item: Item) => Named,
): Item | undefined {
  let held: Item | undefined;
  let least = Infinity;
  for (const item of items) {
    const { name, weight } = asNamed(item);
    const score = -Math.log(drawOf(value, name)) / weight;
    if (score >= least) continue;
    least = score;
    held = item;
  }
  return held;
}
