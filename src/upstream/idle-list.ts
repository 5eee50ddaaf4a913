/**
 * The idle connections to one origin. Bytes that a server sends after its answer usually follow it closely, and would be taken
 * for the next answer: a connection that has just carried one is used again only after it has been silent for a while.
 */

/** How long, in milliseconds. A call in the meantime takes another connection. */
export const quietMsDefault = 100;
/** Of so many that wait for it, the oldest is used at once: a busy gateway must not hold descriptors without end. */
const quietingMax = 256;

/** Places of a queue that are given back to memory at once. */
const emptyMax = 1_024;

export class IdleList<Item> {
  readonly #quietMs: number;
  /** A queue, the oldest first, of which those before `#head` are gone; undefined for one that was removed. */
  #quieting: ({ readonly item: Item; readonly sinceMs: number } | undefined)[] = [];
  #head = 0;
  /** The one that was used last at the end. */
  readonly #ready: Item[] = [];

  constructor(quietMs: number) {
    this.#quietMs = quietMs;
  }

  /** Takes in one that has been silent since `nowMs`. */
  rest(item: Item, nowMs: number): void {
    if (this.#quietMs === 0) this.#ready.push(item);
    else this.#quieting.push({ item, sinceMs: nowMs });
  }

  /** Of those that may be used, the one that was used last. */
  take(nowMs: number): Item | undefined {
    const latestMs = nowMs - this.#quietMs;
    for (; this.#head < this.#quieting.length; this.#head += 1) {
      const oldest = this.#quieting[this.#head];
      const isFull = this.#quieting.length - this.#head >= quietingMax;
      if (oldest !== undefined && oldest.sinceMs > latestMs && !isFull) break;
      if (oldest !== undefined) this.#ready.push(oldest.item);
      this.#quieting[this.#head] = undefined;
    }
    if (this.#head >= emptyMax) {
      this.#quieting = this.#quieting.slice(this.#head);
      this.#head = 0;
    }
    return this.#ready.pop();
  }

  /** One that has lain idle for long, if there is any. */
  oldest(): Item | undefined {
    return this.#ready[0] ?? this.#quieting.find((one) => one !== undefined)?.item;
  }

  remove(item: Item): void {
    const place = this.#ready.lastIndexOf(item);
    if (place !== -1) return void this.#ready.splice(place, 1);
    const waiting = this.#quieting.findIndex((one) => one?.item === item);
    if (waiting !== -1) this.#quieting[waiting] = undefined;
  }

  /** Takes out all of them. */
  clear(): Item[] {
    const waiting = this.#quieting.slice(this.#head);
    this.#quieting = [];
    this.#head = 0;
    return [
      ...this.#ready.splice(0),
      ...waiting.flatMap((one) => (one === undefined ? [] : [one.item])),
    ];
  }
}
