/**
 * Knowing that a signal was handled everywhere: a question goes out behind it, on the same channel and so after it, and each
 * process that listens answers with its name. PostgreSQL itself knows who listens. docs/architecture.md.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../base/log.ts";
import { notify, type Listener } from "./listener.ts";
import type { Queryable } from "./queryable.ts";

/** For how long a process may go on by what it last read in the database (the ledger's checks): a change is answered no sooner. */
export const trustMs = 50;

const question = "settled?";
const answer = "settled";

/** A process that has not answered by then is in trouble, and stops trusting what it knows by itself (its listener's ping). */
const waitMsMax = 1_000;
const unconfirmed = "a change was not confirmed by all gateways in time";
/** How often a process looks whether it listens again. */
const lookMs = 10;

export interface Settling {
  /** A signal came in; those of others are none of ours. */
  receive(channel: string, payload: string): void;
  settled(): Promise<void>;
}

interface SettlingOptions {
  readonly log: Log;
  /** Resolves when what came in before was handled here. */
  readonly handled: () => Promise<void>;
}

/** Asks all listening processes of a database whether they have handled a change; see `settled` of storage/signals.ts. */
export function createSettling(
  database: Queryable,
  listener: Listener,
  { log, handled }: SettlingOptions,
): Settling {
  /** What each question still waits for, by its id. */
  const open = new Map<string, (name: string) => void>();

  /** Whoever does not listen, for its first moment or while its connection is lost, would hear no answer. */
  async function listening(untilMs: number): Promise<void> {
    while (!listener.healthy() && performance.now() < untilMs) await sleep(lookMs);
  }

  /** Undefined where the database does not say: what was changed is committed, and must not fail by that. */
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
      // Nobody confirms then; whoever listens has had the signal of the change when the time is over.
      notify(database, question, id).catch(() => undefined);
    });
  }

  return {
    receive(channel, payload) {
      const name = listener.name();
      if (channel === question && name !== undefined) {
        // Whoever asked gives up by itself.
        handled()
          .then(() => notify(database, answer, `${payload} ${name}`))
          .catch(() => undefined);
      }
      if (channel !== answer) return;
      const [id, from] = payload.split(" ");
      open.get(id!)?.(from!);
    },
    async settled() {
      const untilMs = performance.now() + waitMsMax;
      const trusted = sleep(trustMs);
      await listening(untilMs);
      const leftMs = () => Math.max(0, untilMs - performance.now());
      const late = sleep(leftMs(), undefined, { ref: false });
      const names = await Promise.race([listeningNames(), late]);
      const own = listener.name();
      if (names === undefined) {
        log.warn({}, unconfirmed);
        await sleep(leftMs());
      } else if (!names.every((name) => name === own)) await ask(randomUUID(), names, untilMs);
      await trusted;
    },
  };
}
