/**
 * Change signals between processes over LISTEN/NOTIFY. docs/architecture.md.
 * All logical channels travel on one PostgreSQL channel: one LISTEN hears them all.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../base/log.ts";
import { getOrCreate } from "../base/memoize.ts";
import { notify, type Listener } from "./listener.ts";
import type { Queryable } from "./queryable.ts";
import { createSignalBarrier, trustMs } from "./signal-barrier.ts";

export { trustMs } from "./signal-barrier.ts";

export interface Signals {
  /**
   * Sends a signal to every process that listens, this one included. Inside a transaction pass it as `tx`: the signal then goes out with
   * the commit, and not at all after a rollback. The payload is at most 7,900 bytes.
   */
  publish(channel: string, payload: string, tx?: Queryable): Promise<void>;
  /**
   * Calls `handler` for each signal on the channel; returns a function that unsubscribes. If `handler` returns a promise, the change counts
   * as handled once that has settled.
   */
  subscribe(channel: string, handler: (payload: string) => unknown): () => void;
  /** False while signals may be missed: caches must then not be trusted. The listener starts at the first subscribe. */
  healthy(): boolean;
  /** Calls `handler` each time the listener has connected: signals may have been missed, so caches must be dropped. */
  onReconnect(handler: () => void): () => void;
  /**
   * The same for values that stay in use while signals may be missed. It also calls `handler` every ten seconds as long as the listener
   * cannot connect, for example because the server has no connection left.
   */
  onMissed(handler: () => unknown): () => void;
  /**
   * Resolves when every listening process has handled the signals published before, so that they all know the change. Resolves after a
   * second at the latest, even if a process does not answer. It takes at least {@link trustMs}: until then any process may still use what
   * it read before the change.
   */
  confirmedEverywhere(): Promise<void>;
  /** The number of this process, unique on this database. */
  readonly number: number;
  /** Returns those of these processes that are not connected now: they have ended, or lost their connection for the moment. */
  absent(numbers: readonly number[]): Promise<readonly number[]>;
  close(): Promise<void>;
}

const missedEveryMs = 10_000;

/** Runs handlers: a failure is logged. `settled` resolves when all that run now have settled. */
function createRunner(log: Log) {
  const pending = new Set<Promise<unknown>>();
  const failed = (error: unknown): void => log.error({ err: error }, "a signal handler failed");
  const run = (handler: () => unknown): void => {
    try {
      const work = handler();
      if (!(work instanceof Promise)) return;
      const ended: Promise<unknown> = work.catch(failed).finally(() => pending.delete(ended));
      pending.add(ended);
    } catch (error) {
      failed(error);
    }
  };
  return { run, settled: async () => void (await Promise.all(pending)) };
}

/** Creates signals that `listener` receives and `database` sends. */
export function createSignals(database: Queryable, listener: Listener, log: Log): Signals {
  const handlers = new Map<string, Set<(payload: string) => unknown>>();
  const reconnectHandlers = new Set<() => unknown>();
  const { run, settled } = createRunner(log);
  const settling = createSignalBarrier(database, listener, { log, handled: settled });
  let started = false;

  function receive(text: string): void {
    const at = text.indexOf(":");
    const channel = text.slice(0, at);
    settling.receive(channel, text.slice(at + 1));
    for (const handler of handlers.get(channel) ?? []) run(() => handler(text.slice(at + 1)));
  }

  function start(): void {
    if (started) return;
    started = true;
    listener.start(receive, () => {
      for (const handler of reconnectHandlers) run(handler);
    });
  }

  const healthy = (): boolean => started && listener.healthy();

  function onReconnect(handler: () => unknown): () => void {
    reconnectHandlers.add(handler);
    return () => void reconnectHandlers.delete(handler);
  }

  return {
    async publish(channel, payload, tx = database) {
      if (channel.includes(":")) throw new Error(`a channel's name has no colon: ${channel}`);
      await notify(tx, channel, payload);
    },
    subscribe(channel, handler) {
      const set = getOrCreate(handlers, channel, () => new Set()).add(handler);
      start();
      return () => void set.delete(handler);
    },
    healthy,
    onReconnect,
    onMissed(handler) {
      const end = onReconnect(handler);
      const timer = setInterval(() => {
        if (!healthy()) run(handler);
      }, missedEveryMs).unref();
      return () => {
        clearInterval(timer);
        end();
      };
    },
    number: listener.number,
    absent: (numbers) => listener.absent(database, numbers),
    confirmedEverywhere: () => (started ? settling.confirmedEverywhere() : sleep(trustMs)),
    close: () => listener.close(),
  };
}
