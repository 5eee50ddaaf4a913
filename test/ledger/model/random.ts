/** Reproducible pseudo-random numbers. */

/** Mulberry32: numbers from 0 up to 1, always the same ones for the same seed. */
export function randomOf(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Makes choices in sequence from given numbers; the last number is used for all further choices. */
export class Choices {
  readonly #numbers: readonly number[];
  #next = 0;
  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }
  number(): number {
    const at = Math.min(this.#next, this.#numbers.length - 1);
    this.#next += 1;
    return this.#numbers[at]!;
  }
  /** An integer from 0 up to `below`, exclusive. */
  below(below: number): number {
    return Math.floor(this.number() * below);
  }
  chance(share: number): boolean {
    return this.number() < share;
  }
  pick<Item>(items: readonly Item[]): Item | undefined {
    return items[this.below(items.length)];
  }
}
