/**
 * The idle connections to one origin. Surplus bytes usually follow an answer closely, and would be taken for the next answer. So a
 * connection is reused only after it has been silent for a while.
 */

/** Milliseconds of silence before reuse. A call in the meantime takes another connection. */
export const quietMsDefault = 100;
/** Above this many quieting connections the oldest is used at once: a busy gateway must not hold descriptors without end. */
const quietingMax = 256;

/** Used-up places at the queue's start that are freed together. */
const emptyMax = 1_024;

export class IdleList<Item> {
  readonly #quietMs: number;
  /** A queue, oldest first; entries before `#head` are used up. A removed entry is undefined. */
  #quieting: ({ readonly item: Item; readonly sinceMs: number } | undefined)[] = [];
  #head = 0;
  /** The most recently used one is last. */
  readonly #ready: Item[] = [];

  constructor(quietMs: number) {
    this.#quietMs = quietMs;
  }

  /** Adds a connection that has been silent since `nowMs`. */
  release(item: Item, nowMs: number): void {
    if (this.#quietMs === 0) this.#ready.push(item);
    else this.#quieting.push({ item, sinceMs: nowMs });
  }

  /** Takes the most recently used connection that may be reused. */
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

  /** Returns one that has been idle for long, if any. */
  oldest(): Item | undefined {
    return this.#ready[0] ?? this.#quieting.find((one) => one !== undefined)?.item;
  }

  remove(item: Item): void {
    const place = this.#ready.lastIndexOf(item);
    if (place !== -1) return void this.#ready.splice(place, 1);
    const waiting = this.#quieting.findIndex((one) => one?.item === item);
    if (waiting !== -1) this.#quieting[waiting] = undefined;
  }

  /** Removes and returns all connections. */
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
