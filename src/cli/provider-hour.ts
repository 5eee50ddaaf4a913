/** Outcomes of attempts at providers in the last hour, on all gateways. Each process adds its counts every two seconds. */
import type { Log } from "../base/log.ts";
import { hourOf, type Health, type LastHour } from "../routing/index.ts";
import { addProviderMinutes, readProviderHour, type Database } from "../storage/index.ts";
import { startPeriodicWork } from "./periodic-work.ts";

/** Interval at which the counts are added. */
const everyMs = 2_000;

export interface ProviderHour {
  /** Returns the last hour by provider: this process's counts up to now, those of other processes up to two seconds ago. */
  read(): Promise<ReadonlyMap<string, LastHour>>;
  close(): Promise<void>;
}

interface Parts {
  readonly database: Database;
  readonly health: Health;
  readonly log: Log;
}

/** Starts to add the counts. */
export function openProviderHour({ database, health, log }: Parts): ProviderHour {
  const add = async (): Promise<void> => {
    const counted = health.outcomes.take();
    if (counted.length === 0) return;
    try {
      await addProviderMinutes(database, counted);
    } catch (error) {
      health.outcomes.giveBack(counted);
      throw error;
    }
  };
  const end = startPeriodicWork({
    everyMs,
    sweeps: () => true,
    log,
    failure: "how attempts at providers ended could not be added up; trying again",
    round: add,
  });
  return {
    async read() {
      await add();
      return hourOf(await readProviderHour(database));
    },
    async close() {
      await end();
      await add().catch(() => undefined);
    },
  };
}
