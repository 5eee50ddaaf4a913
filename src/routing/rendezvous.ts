/**
 * Rendezvous hashing by weight: each value, such as a session, has one of several, the same on every gateway without a word
 * between them. Each gets its share of the values, and where one leaves, only its own values move. docs/routing.md.
 */
import { createHash } from "node:crypto";

/** One of those that values are shared among. `weight`: above 0. */
interface Named {
  readonly name: string;
  readonly weight: number;
}

/** Uniform in (0, 1), from the first 48 bits of a digest. */
function drawOf(value: string, name: string): number {
  const hash = createHash("sha256").update(`${value}\0${name}`).digest();
  return (hash.readUIntBE(0, 6) + 0.5) / 2 ** 48;
}

/** The one that `value` has; undefined where there is none at all. */
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
