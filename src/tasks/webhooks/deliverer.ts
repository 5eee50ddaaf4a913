/**
 * The deliverer: finds due callbacks and tries them. Any number of processes may run one on the same database. The callbacks of a dead
 * process are sent again at once if it is certainly dead (dead-owners.ts), else when its lease ends. docs/tasks.md; Requirements: HOOK.
 */
import { coalesce } from "../../base/coalesce.ts";
import {
  claimDue,
  findDue,
  mendAfterClockJump,
  type ClaimedDelivery,
  type DueDelivery,
} from "./outbox.ts";
import { createSlotLimiter } from "../slot-limiter.ts";
import { tryOnce, type DelivererServices } from "./try-once.ts";

export interface DelivererOptions extends DelivererServices {
  /** True if this process is the sweeper of its gateway, which reads the outbox without a signal; true if absent. */
  readonly sweeps?: (() => boolean) | undefined;
  /** Milliseconds between such reads of the outbox; 1 s if absent. */
  readonly pollMs?: number | undefined;
  /** Milliseconds of a lease, longer than a try can take; `timeoutMs` and half a minute if absent. */
  readonly leaseMs?: number | undefined;
  /** Milliseconds for which `close` lets receivers answer; 3 s if absent. */
  readonly closeMs?: number | undefined;
}

export interface Deliverer {
  /** Begins to deliver, including callbacks that an earlier process left behind. */
  start(): void;
  /** Reads the outbox at once, because something was added. Does nothing before `start` and after `close`. */
  wake(): void;
  /** Starts no more tries, gives those in flight a moment, cuts off the rest (they are due again), and waits for all. */
  close(): Promise<void>;
}

/** Tries in flight at once. */
export const triesMax = { total: 200, perWorkspace: 20, perHost: 4 } as const;
/** Due deliveries that are read to fill the slots. */
const dueReadMax = 2 * triesMax.total;
const pollMsDefault = 1_000;
const closeMsDefault = 3_000;
const leaseMarginMs = 30_000;
const mendEveryMs = 60_000;

/** Creates a deliverer for the outbox in `database`. Nothing runs before `start`. */
export function createDeliverer(options: DelivererOptions): Deliverer {
  const { log } = options;
  const cut = new AbortController();
  const tries = createTries(options, cut.signal);
  let open = false;
  let mendDue = true;
  let timers: NodeJS.Timeout[] = [];

  async function mend(): Promise<void> {
    const count = await mendAfterClockJump(options.database, options.clock.now());
    if (count > 0) log.warn({ count }, "callbacks had been put off by a clock that ran ahead");
    mendDue = false;
  }

  const looks = coalesce(async () => {
    if (!open) return;
    try {
      if (mendDue) await mend();
      while (await tries.begin(wake));
    } catch (error) {
      log.warn({ err: error }, "the outbox of callbacks could not be read");
    }
  });

  function wake(): void {
    if (open) looks.ask();
  }

  return {
    start() {
      open = true;
      timers = [
        setInterval(() => {
          if (options.sweeps?.() !== false) wake();
        }, options.pollMs ?? pollMsDefault),
        setInterval(() => (mendDue = true), mendEveryMs),
      ];
      wake();
    },
    wake,
    async close() {
      open = false;
      for (const timer of timers) clearInterval(timer);
      tries.stop();
      await looks.idle();
      const cutTimer = setTimeout(() => cut.abort(), options.closeMs ?? closeMsDefault);
      await tries.ended();
      clearTimeout(cutTimer);
    },
  };
}

/** The tries in flight. */
function createTries(options: DelivererOptions, signal: AbortSignal) {
  const { database, clock, log } = options;
  const { timeoutMs: tryMs, leaseMs = tryMs + leaseMarginMs } = options;
  const slots = createSlotLimiter(triesMax);
  const running = new Set<Promise<void>>();
  let stopped = false;

  async function run(delivery: ClaimedDelivery): Promise<void> {
    try {
      await tryOnce(options, delivery, signal);
    } catch (error) {
      log.error({ err: error, event: delivery.id }, "a callback could not be tried or noted");
    }
  }

  async function claim(chosen: readonly DueDelivery[]): Promise<ClaimedDelivery[]> {
    let claimed: ClaimedDelivery[] = [];
    try {
      claimed = await claimDue(database, chosen, clock.now(), { leaseMs, tryMs });
    } finally {
      const ids = new Set(claimed.map((one) => one.id));
      for (const one of chosen) if (!ids.has(one.id)) slots.release(one);
    }
    return claimed;
  }

  return {
    /** Starts due deliveries while slots are free; true if there may be more. Calls `freed` when a slot is free for waiting ones. */
    async begin(freed: () => void): Promise<boolean> {
      if (stopped || !slots.hasRoom()) return false;
      const found = await findDue(database, {
        nowMs: clock.now(),
        limit: dueReadMax,
        ...slots.full(),
      });
      const chosen = found.filter((one) => slots.take(one));
      if (chosen.length === 0) return false;
      const claimed = await claim(chosen);
      for (const delivery of claimed) {
        const trying = run(delivery).finally(() => {
          running.delete(trying);
          if (slots.release(delivery)) freed();
        });
        running.add(trying);
      }
      return claimed.length > 0 && chosen.length < found.length;
    },
    /** Lets no more tries begin. */
    stop: () => void (stopped = true),
    /** Resolves when all tries have ended. */
    async ended(): Promise<void> {
      await Promise.all(running);
    },
  };
}
