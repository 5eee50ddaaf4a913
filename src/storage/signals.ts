/**
 * Change signals between processes over LISTEN/NOTIFY. Design section 2, "cross-node signals".
 * All logical channels travel on one PostgreSQL channel: one LISTEN hears them all.
 */
import type { Log, Queryable } from "./database.ts";
import { createSettling, notify } from "./settling.ts";

export { wireChannel } from "./settling.ts";

export interface Signals {
  /**
   * Tells every process that listens, this one included. Inside a transaction pass it as `tx`: the signal then goes
   * out with the commit, and not at all after a rollback. The payload is at most 7,900 bytes.
   */
  publish(channel: string, payload: string, tx?: Queryable): Promise<void>;
  /** Calls `handler` for each signal on the channel; returns the function that ends it. */
  subscribe(channel: string, handler: (payload: string) => void): () => void;
  /** False while signals may be missed: caches must then not be trusted. Starts at the first subscribe. */
  healthy(): boolean;
  /** Calls `handler` after the listener is back: what was missed is unknown, so caches are to be dropped. */
  onReconnect(handler: () => void): () => void;
  /**
   * Resolves when every process that listens has handled what was published before, so that what was changed here is
   * known there too; after a second at the latest, whatever a process in trouble does. At once where only this one listens.
   */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** What receives the notifications. */
export interface SignalSource {
  start(receive: (text: string) => void, reconnected: () => void): void;
  healthy(): boolean;
  close(): Promise<void>;
  /** The names of all that listen on the database now; absent where this process is the only one. */
  listeners?(database: Queryable): Promise<readonly string[]>;
  /** This process's name among them; undefined while it does not listen. */
  name?(): string | undefined;
}

/** Signals over a source, published through `database`. */
export function createSignals(database: Queryable, source: SignalSource, log: Log): Signals {
  const handlers = new Map<string, Set<(payload: string) => void>>();
  const reconnectHandlers = new Set<() => void>();
  const settling = createSettling(database, source, log);
  let started = false;

  function guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      log.error({ err: error }, "a signal handler failed");
    }
  }

  function receive(text: string): void {
    const at = text.indexOf(":");
    const channel = text.slice(0, at);
    settling.receive(channel, text.slice(at + 1));
    for (const handler of handlers.get(channel) ?? []) guarded(() => handler(text.slice(at + 1)));
  }

  function start(): void {
    if (started) return;
    started = true;
    source.start(receive, () => {
      for (const handler of reconnectHandlers) guarded(handler);
    });
  }

  return {
    async publish(channel, payload, tx = database) {
      if (channel.includes(":")) throw new Error(`a channel's name has no colon: ${channel}`);
      await notify(tx, channel, payload);
    },
    subscribe(channel, handler) {
      const set = handlers.get(channel) ?? new Set();
      handlers.set(channel, set.add(handler));
      start();
      return () => void set.delete(handler);
    },
    healthy: () => started && source.healthy(),
    onReconnect(handler) {
      reconnectHandlers.add(handler);
      return () => void reconnectHandlers.delete(handler);
    },
    settled: () => (started && source.healthy() ? settling.settled() : Promise.resolve()),
    close: () => source.close(),
  };
}
