/**
 * The connections to one origin. An exchange takes the most recently used one, or a new one. An origin has no limit: each open stream holds
 * a connection, and a queue would look like a hanging upstream (T85). The process's limit of open files bounds them (room.ts): above it an
 * exchange fails at once.
 */
import { connectError, ExchangeError } from "../exchange-error.ts";
import { IdleList } from "../idle-list.ts";
import type { OriginRules } from "../origin-rules.ts";
import { Connection, type Owner } from "./connection.ts";
import type { Job } from "./job.ts";
import { RequestHeads } from "./request.ts";
import { Dialler } from "./socket.ts";
import { Watch } from "./watch.ts";

export class HttpPool implements Owner {
  readonly dialler: Dialler;
  readonly connectMs: number;
  readonly heads: RequestHeads;
  readonly #rules: OriginRules;
  readonly #connections = new Set<Connection>();
  readonly #idle: IdleList<Connection>;
  readonly #watch = new Watch(this.#connections);
  #reserved: Connection[] = [];
  #isClosed = false;

  constructor(rules: OriginRules) {
    this.#rules = rules;
    this.#idle = new IdleList(rules.quietMs);
    this.dialler = new Dialler(rules.origin, rules.dialRoute);
    this.connectMs = rules.connectMs;
    this.heads = new RequestHeads(this.dialler);
  }

  /** Assigns a connection to an exchange; errors go to `job.fail`. */
  open(job: Job): void {
    if (this.#isClosed) return job.fail(closing());
    if (this.#reserveFor(job)) return;
    if (!this.#rules.room.take()) return job.fail(noRoom());
    try {
      this.#connections.add(new Connection(this, job));
    } catch (error) {
      this.#rules.room.give();
      job.fail(connectError(error as Error, this.dialler.host));
    }
  }

  /**
   * An idle socket may hold unread bytes or a FIN, which would be taken for the answer. The connection may seem silent only because this
   * process was busy. So the request is sent one turn of the event loop later, after unread bytes are read.
   */
  #reserveFor(job: Job): boolean {
    const take = () => this.#idle.take(job.beginsMs);
    for (let last = take(); last !== undefined; last = take()) {
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

  get mayReuse(): boolean {
    return !this.#rules.isSuspect();
  }

  release(connection: Connection, sinceMs: number): void {
    this.#idle.release(connection, sinceMs);
  }

  surplus(): void {
    this.#rules.surplus();
  }

  /** Closes idle and reserved connections; reserved exchanges go over new ones. */
  closeIdle(): void {
    this.#idle.clear();
    for (const connection of this.#connections) connection.retire();
  }

  /** Closes the connection that has been idle longest; false if there is none. */
  closeOldest(): boolean {
    const oldest = this.#idle.oldest();
    oldest?.close();
    return oldest !== undefined;
  }

  forget(connection: Connection): void {
    if (this.#connections.delete(connection)) this.#rules.room.give();
    this.#idle.remove(connection);
  }

  resend(job: Job): void {
    this.open(job);
  }

  /** Closes every connection, and fails the exchanges in flight. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.fail(closing());
    this.#watch.close();
  }
}

const noRoom = (): ExchangeError =>
  new ExchangeError("shortage", "the gateway has as many connections open as it may");

const closing = (): ExchangeError =>
  new ExchangeError("broken", "the gateway closes its connections");
