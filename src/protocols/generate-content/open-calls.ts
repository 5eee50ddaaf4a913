/**
 * Which call of a generateContent conversation a result belongs to. Callers may leave ids out on either side. T21, T22.
 * A round is what the model said between two turns of others, in however many pieces: its results follow it.
 */

/** Begins the ids we make up: the encoder leaves them out again, for the vendor knows them not. */
export const madeUpPrefix = "gc_";

export interface OpenCall {
  readonly id: string;
  readonly name: string;
  answered: boolean;
}

/** Calls in order, of which those before `next` are answered. */
interface Queue {
  readonly round: number;
  readonly calls: OpenCall[];
  next: number;
}

/** Queues by a key, one a round, the newest last. */
type Rounds = Map<string, Queue[]>;

/** The calls of a conversation so far that have no result yet; found without a search, however many there are. */
export class OpenCalls {
  readonly #byId: Rounds = new Map();
  readonly #byName: Rounds = new Map();
  /** Those that came without an id, by name: a result may have one all the same. */
  readonly #withoutId: Rounds = new Map();
  #round = 0;

  /** Another than the model speaks: calls after it are of a new round. */
  endRound(): void {
    this.#round += 1;
  }

  add(id: string, name: string): void {
    const call: OpenCall = { id, name, answered: false };
    this.#put(this.#byId, id, call);
    this.#put(this.#byName, name, call);
    if (id.startsWith(madeUpPrefix)) this.#put(this.#withoutId, name, call);
  }

  /**
   * The call of a result, by its id, else by name and order; undefined where there is none. An empty id is none.
   * The newest round goes first: a call that was broken off stays without a result, and gets none of a later call's.
   */
  take(id: string, name: string): OpenCall | undefined {
    if (id === "") return taken(this.#byName.get(name));
    return taken(this.#byId.get(id)) ?? taken(this.#withoutId.get(name));
  }

  #put(rounds: Rounds, key: string, call: OpenCall): void {
    const queues = rounds.get(key) ?? [];
    if (queues.length === 0) rounds.set(key, queues);
    const last = queues.at(-1);
    if (last?.round === this.#round) last.calls.push(call);
    else queues.push({ round: this.#round, calls: [call], next: 0 });
  }
}

/** The first call without a result of the newest round that has one. Rounds without any are forgotten. */
function taken(queues: Queue[] = []): OpenCall | undefined {
  for (let queue = queues.at(-1); queue; queue = queues.at(-1)) {
    while (queue.calls[queue.next]?.answered) queue.next += 1;
    const call = queue.calls[queue.next];
    if (call) {
      call.answered = true;
      return call;
    }
    queues.pop();
  }
  return undefined;
}
