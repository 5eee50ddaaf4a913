/**
 * The connections to one origin. An exchange takes the one that was used last, or a new one: there is no limit, because each
 * open stream holds one, and a queue would look like an upstream that hangs (T85).
 */
import { ExchangeError, toExchangeError } from "../exchange-error.ts";
import { Connection, type Owner } from "./connection.ts";
import type { Job } from "./job.ts";
import { RequestHeads } from "./request.ts";
import { Dialler } from "./socket.ts";
import { Watch } from "./watch.ts";

export class HttpPool implements Owner {
  readonly dialler: Dialler;
  readonly connectMs: number;
  readonly heads: RequestHeads;
  readonly #connections = new Set<Connection>();
  /** The one that was used last at the end. */
  readonly #idle: Connection[] = [];
  readonly #watch = new Watch(this.#connections);
  #reserved: Connection[] = [];
  #isClosed = false;

  /** For an origin such as `https://api.example.com`. `connectMs` bounds the handshakes of TCP and TLS together. */
  constructor(origin: string, connectMs: number) {
    this.dialler = new Dialler(origin);
    this.connectMs = connectMs;
    this.heads = new RequestHeads(this.dialler.host);
  }

  /** Finds a connection for an exchange, which hears of everything that comes of it. */
  open(job: Job): void {
    if (this.#isClosed) return job.fail(closing());
    if (this.#reserveFor(job)) return;
    try {
      this.#connections.add(new Connection(this, job));
    } catch (error) {
      job.fail(toExchangeError(error as Error));
    }
  }

  /**
   * What a server sent unasked, or its close, may wait to be read, and would be taken for the answer. So a connection that lay
   * idle, if only since this turn of the event loop, carries the next request after one more turn has read what there is.
   */
  #reserveFor(job: Job): boolean {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (!last.reserve(job)) continue;
      if (this.#reserved.push(last) === 1) setImmediate(setImmediate, this.#sendReserved);
      return true;
    }
    return false;
  }

  readonly #sendReserved = (): void => {
    const reserved = this.#reserved;
    this.#reserved = [];
    for (const connection of reserved) if (connection.isReserved) connection.send();
  };

  note(dueMs: number): void {
    this.#watch.note(dueMs);
  }

  rest(connection: Connection): void {
    this.#idle.push(connection);
  }

  forget(connection: Connection): void {
    this.#connections.delete(connection);
    const place = this.#idle.lastIndexOf(connection);
    if (place !== -1) this.#idle.splice(place, 1);
  }

  again(job: Job): void {
    this.open(job);
  }

  /** Closes every connection, under those that carry an exchange too. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.fail(closing());
    this.#watch.close();
  }
}

const closing = (): ExchangeError =>
  new ExchangeError("broken", "the gateway closes its connections");
