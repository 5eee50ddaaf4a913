/**
 * Confirms that every process has handled a signal. A question follows the signal on the same channel, and so arrives after it; each
 * listening process answers with its name. PostgreSQL itself knows which processes listen. docs/architecture.md.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../base/log.ts";
import { notify, type Listener } from "./listener.ts";
import type { Queryable } from "./queryable.ts";

/** Milliseconds that a process may trust its last read of the database (the ledger's checks): no change is confirmed sooner. */
export const trustMs = 50;

const question = "settled?";
const answer = "settled";

/** A process that has not answered by then is failing: its listener's ping makes it stop trusting its caches. */
const waitMsMax = 1_000;
const unconfirmed = "a change was not confirmed by all gateways in time";
/** Milliseconds between checks whether this process listens again. */
const lookMs = 10;

export interface SignalBarrier {
  /** Handles an incoming signal; ignores channels other than those of settling. */
  receive(channel: string, payload: string): void;
  confirmedEverywhere(): Promise<void>;
}

interface SignalBarrierOptions {
  readonly log: Log;
  /** Resolves when this process has handled all signals that came before. */
  readonly handled: () => Promise<void>;
}

/** Asks all listening processes of a database whether they have handled a change; see `confirmedEverywhere` of storage/signals.ts. */
export function createSignalBarrier(
  database: Queryable,
  listener: Listener,
  { log, handled }: SignalBarrierOptions,
): SignalBarrier {
  /** The callback of each open question, by its id: it takes the name of a process that answered. */
  const open = new Map<string, (name: string) => void>();

  /** Waits until this process listens: at its start, or while its connection is lost, it would hear no answer. */
  async function listening(untilMs: number): Promise<void> {
    while (!listener.healthy() && performance.now() < untilMs) await sleep(lookMs);
  }

  /** Undefined if the database does not answer: the change is committed, and must not fail because of this. */
  const listeningNames = () => listener.listeners(database).catch(() => undefined);

  function ask(id: string, names: readonly string[], untilMs: number): Promise<void> {
    const missing = new Set(names);
    return new Promise((resolve) => {
      const late = setTimeout(
        () => {
          log.warn({ missing: missing.size }, unconfirmed);
          end();
        },
        Math.max(0, untilMs - performance.now()),
      );
      function end(): void {
        clearTimeout(late);
        open.delete(id);
        resolve();
      }
      open.set(id, (name) => {
        missing.delete(name);
        if (missing.size === 0) end();
      });
      // If the question cannot be sent, no process confirms. All listening processes have the signal by the time limit.
      notify(database, question, id).catch(() => undefined);
    });
  }

  return {
    receive(channel, payload) {
      const name = listener.name();
      if (channel === question && name !== undefined) {
        // The process that asked has its own time limit.
        handled()
          .then(() => notify(database, answer, `${payload} ${name}`))
          .catch(() => undefined);
      }
      if (channel !== answer) return;
      const [id, from] = payload.split(" ");
      open.get(id!)?.(from!);
    },
    async confirmedEverywhere() {
      const untilMs = performance.now() + waitMsMax;
      const trusted = sleep(trustMs);
      await listening(untilMs);
      const leftMs = () => Math.max(0, untilMs - performance.now());
      const late = sleep(leftMs(), undefined, { ref: false });
      const names = await Promise.race([listeningNames(), late]);
      if (names === undefined) {
        log.warn({}, unconfirmed);
        await sleep(leftMs());
      } else if (names.length > 0) await ask(randomUUID(), names, untilMs);
      await trusted;
    },
  };
}
