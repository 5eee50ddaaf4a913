/**
 * A gateway as the model sees it: the real code, whose time, timers and connection are in the history's hands. What its lanes send
 * stays under way until the history says what becomes of it.
 */
import type { Adapter, ModelGateway, Row, Sent } from "./adapter.ts";

/** What a lane sent and has no answer to. */
export interface Sending {
  readonly sent: Sent;
  /** It was in the database, and the answer is under way. */
  rows?: readonly Row[];
  answer(rows: readonly Row[]): void;
  /** `code`: with which the connection or the server gave it up. */
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
  /** How far its monotonic clock is ahead of the history's: it grows while it stands still. */
  aheadMs = 0;
  /** Since when it goes on after it stood still. */
  resumedAt = 0;
  /** When a batch of it was last in the database. */
  appliedAt = 0;
  /** Moments of the last change it has heard of, by workspace. */
  readonly heardAt = new Map<string, number>();
  /** Workspaces with a change that it has not heard of yet. */
  readonly unheard: string[] = [];
  /** Keys whose last batch in the database was not answered, or refused a call. */
  readonly unconfirmed = new Set<string>();
  /** By lane. */
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
      // Never the same twice: what came after something else can be told from it.
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

  /** Runs what is due, once; false where nothing was. */
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
