/**
 * Pairs results with calls in a generateContent conversation. Callers may omit ids on either side. T21, T22. A round is all model output
 * between two user turns, in any number of pieces; its results follow it.
 */

/** Prefix of ids that the gateway makes up. The encoder removes them, because the vendor does not know them. */
export const generatedIdPrefix = "gc_";

export interface OpenCall {
  readonly id: string;
  readonly name: string;
  answered: boolean;
}

/** Calls in order; those before `next` are answered. */
interface Queue {
  readonly round: number;
  readonly calls: OpenCall[];
  next: number;
}

/** Queues by key, one per round, newest last. */
type Rounds = Map<string, Queue[]>;

/** The unanswered calls of a conversation so far. Lookups need no search, however many calls there are. */
export class OpenCalls {
  readonly #byId: Rounds = new Map();
  readonly #byName: Rounds = new Map();
  /** Calls that came without an id, by name: their results may still have one. */
  readonly #withoutId: Rounds = new Map();
  #round = 0;

  /** Ends the round when a user turn begins: later calls belong to a new one. */
  endRound(): void {
    this.#round += 1;
  }

  add(id: string, name: string): void {
    const call: OpenCall = { id, name, answered: false };
    this.#put(this.#byId, id, call);
    this.#put(this.#byName, name, call);
    if (id.startsWith(generatedIdPrefix)) this.#put(this.#withoutId, name, call);
  }

  /**
   * Returns the call of a result, by id, otherwise by name and order; undefined if there is none. An empty id counts as none. The newest
   * round comes first: an abandoned call stays unanswered and does not get a later call's result.
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

/** Returns the first unanswered call of the newest round that has one, and removes rounds that have none. */
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
