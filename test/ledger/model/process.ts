/**
 * A gateway as the model sees it: the real code, with time, timers and connection controlled by the history. Batches of its lanes
 * stay in flight until the history decides what happens to them.
 */
import type { Adapter, ModelGateway, Row, Sent } from "./adapter.ts";

/** A batch in flight. */
export interface Sending {
  readonly sent: Sent;
  /** The answer in flight. Undefined until the database has applied the batch. */
  rows?: readonly Row[];
  answer(rows: readonly Row[]): void;
  /** Fails the batch with an error code of the connection or the server. */
  lose(code: string): void;
}

interface Timer {
  readonly dueMs: number;
  readonly work: () => void;
}

const failure = (code: string) => Object.assign(new Error(`failed with ${code}`), { code });

export class GatewayUnderTest {
  readonly name: string;
  readonly model: ModelGateway;
  isAlive = true;
  /** Milliseconds by which its monotonic clock is ahead of the history's. A pause adds to it. */
  aheadMs = 0;
  /** Moment of the end of its last pause. */
  resumedAt = 0;
  /** Moment at which the database last applied a batch of it. */
  appliedAt = 0;
  /** Moment at which it last heard of a change, by workspace. */
  readonly signalledAt = new Map<string, number>();
  /** Workspaces with a change that it has not heard of yet. */
  readonly pendingSignals: string[] = [];
  /** Keys whose last applied batch was not answered, or refused a call. */
  readonly unconfirmed = new Set<string>();
  /** Batches in flight, by lane. */
  readonly sendings = new Map<number, Sending>();
  /** The numbers of the last batches that the database took, by lane. */
  readonly taken = new Map<number, number>();
  #looks = 0;
  #soon: (() => void)[] = [];
  #timers: Timer[] = [];
  readonly #now: () => number;

  constructor(name: string, adapter: Adapter, now: () => number) {
    this.name = name;
    this.#now = now;
    this.model = adapter.createGateway({
      send: (sent) => this.#send(sent),
      // Unique and increasing, so that times show the order of events.
      now: () => this.nowMs + (this.#looks += 1) * 1e-7,
      later: (work, ms) =>
        void (ms === 0
          ? this.#soon.push(work)
          : this.#timers.push({ dueMs: this.nowMs + ms, work })),
    });
  }

  #send(sent: Sent): Promise<readonly Row[]> {
    const { lane } = sent;
    return new Promise((resolve, reject) => {
      if (this.sendings.has(lane)) throw new Error(`${this.name}: two batches of lane ${lane}`);
      const over = (work: () => void) => {
        this.sendings.delete(lane);
        work();
      };
      this.sendings.set(lane, {
        sent,
        answer: (rows) => over(() => resolve(rows)),
        lose: (code) => over(() => reject(failure(code))),
      });
    });
  }

  get nowMs(): number {
    return this.#now() + this.aheadMs;
  }

  /** Runs all due work once. False if there was none. */
  run(): boolean {
    if (!this.isAlive) return false;
    const due = this.#timers.filter(({ dueMs }) => dueMs <= this.nowMs);
    this.#timers = this.#timers.filter((timer) => !due.includes(timer));
    const works = [...this.#soon, ...due.sort((a, b) => a.dueMs - b.dueMs).map(({ work }) => work)];
    this.#soon = [];
    for (const work of works) work();
    return works.length > 0;
  }
}
