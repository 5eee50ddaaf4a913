/** A limited number of slots, such as for open files beyond those of callers' connections. */

export class Slots {
  readonly max: number;
  #taken = 0;

  constructor(max: number) {
    this.max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes `count` slots. Returns false, and takes none, if fewer are left. */
  take(count = 1): boolean {
    if (this.#taken + count > this.max) return false;
    this.#taken += count;
    return true;
  }

  give(count = 1): void {
    this.#taken -= count;
  }
}
