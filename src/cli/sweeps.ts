/**
 * Periodic work of a gateway beside its calls: removes expired data, sums usage, keeps the tables in bounds and exports finished days.
 * One process of each gateway sweeps. Where only one gateway may work at a time, the database enforces it. docs/operate.md; rows
 * STORE-02, STORE-05.
 */
import { throttleCounter } from "../base/throttle-counter.ts";
import { dayMs, minuteMs } from "../base/durations.ts";
import { sweepSignIns } from "../admin/index.ts";
import { sweepAnswers } from "../calls/index.ts";
import { exportFinished, openExportPlace } from "../exports/index.ts";
import { adviceOnFiles, sweepFiles, type FileStore } from "../files/index.ts";
import { sweepRates } from "../rates/index.ts";
import { sweepBodies } from "../request-log/index.ts";
import { keepParts, retentionStep } from "../retention/index.ts";
import { isAway, makeIndexes } from "../storage/index.ts";
import { agentsThrough } from "../upstream/index.ts";
import { foldUsage } from "../usage/index.ts";
import { createCertificateWatch } from "./certificate-watch.ts";
import type { GatewayOptions } from "./gateway-options.ts";
import type { Resources } from "./resources.ts";
import {
  startPeriodicWork,
  untilNothingLeft,
  withPauses,
  type PeriodicWork,
} from "./periodic-work.ts";

type Sweep = Omit<PeriodicWork, "sweeps" | "log"> & {
  /** Called after the last round. */
  readonly end?: () => Promise<void> | undefined;
};

/** Releases reservations whose gateway died, or whose lease ran out. */
const holds = ({ ledger, log }: Resources): Sweep => ({
  everyMs: 10_000,
  atOnce: true,
  failure: "the sweep of reservations failed",
  async round() {
    const count = await ledger.expire();
    if (count > 0) log.warn({ count }, "released reservations whose calls never ended");
  },
});

/** Watches the gateway's own certificate: only one process logs its expiry. */
function certificate(resources: Resources): Sweep {
  const look = createCertificateWatch(resources);
  return {
    everyMs: minuteMs,
    atOnce: true,
    failure: "the look at the certificate failed",
    async round() {
      look();
    },
  };
}

/** The earlier of the two clocks: what is deleted is past its time by both, since one of them may be wrong. */
const earlierMs = ({ sharedClock, clock }: Resources): number =>
  Math.min(sharedClock.now(), clock.now());

function files(resources: Resources, everyMs = 5_000): Sweep {
  const { database, files: store, log } = resources;
  const rounds = throttleCounter(minuteMs);
  return {
    everyMs,
    atOnce: true,
    failure: "the sweep of files failed",
    async round(_shouldContinue, ended) {
      const swept = await sweepFiles(database, store, new Date(earlierMs(resources)), ended);
      const { removed, failed, error } = swept;
      if (removed > 0) log.info({ removed }, "removed files that had expired");
      if (failed === 0 || rounds() === undefined) return;
      const fields = { failed, ...adviceOnFiles(error) };
      log.warn(fields, "could not remove expired files; trying again later");
    },
  };
}

/** Removes limits that are no longer used, and in-flight counts of gateways that died. */
const rates = ({ database }: Resources): Sweep => ({
  everyMs: minuteMs,
  failure: "the sweep of limits failed",
  round: () => sweepRates(database),
});

/**
 * Deletes rows in batches until none is left; `batch` returns the number of deleted rows. A fixed number of batches in a minute would be
 * too few for a busy gateway.
 */
const deleted = (what: string, batch: () => Promise<number>): Sweep => ({
  everyMs: minuteMs,
  failure: `old ${what} could not be deleted; trying again later`,
  round: (shouldContinue) => untilNothingLeft(shouldContinue, batch),
});

/** Creates indexes that this version adds. */
const indexes = ({ database, log }: Resources): Sweep => ({
  everyMs: minuteMs,
  failure: "an index could not be made; trying again later",
  async round(shouldContinue) {
    const made = await makeIndexes(database, shouldContinue);
    if (made.length > 0) log.info({ indexes: made }, "made indexes that this version brings");
  },
});

const usage = ({ database, catalog }: Resources, everyMs = 10_000): Sweep => ({
  everyMs,
  failure: "usage could not be summed; trying again later",
  async round(shouldContinue) {
    const { usage: tags } = catalog.settings.tags;
    await foldUsage(database, { goesOn: withPauses(shouldContinue), tags });
  },
});

/** Creates parts of the request log ahead, and deletes data that is past its retention. */
function retention(resources: Resources, everyMs = minuteMs): Sweep {
  const { database, log, catalog, sharedClock } = resources;
  const { retention: kept, exports } = catalog.settings;
  const isLogExported = exports?.what.includes("requests") === true;
  return {
    everyMs,
    atOnce: true,
    failure: "the tables could not be kept in bounds; trying again later",
    async round(shouldContinue) {
      const dayOf = (ms: number): number => Math.floor(ms / dayMs);
      const clockAheadDays = dayOf(sharedClock.now()) - dayOf(earlierMs(resources));
      const wanted = { ...kept, isLogExported, clockAheadDays };
      try {
        await keepParts(database, { days: kept.requestLogDays, shouldContinue });
        // Step by step, each in its own transaction, so that other work can run in between.
        while (shouldContinue() && (await retentionStep(database, wanted)) > 0);
      } catch (error) {
        if (!isAway(error)) throw error;
        // A reader of the whole table, such as a backup, can block changes of parts for a while.
        log.debug({ err: error }, "the tables are kept in bounds later");
      }
    },
  };
}

/** Exports each finished day into a file, if configured. */
function exports({ database, log, catalog, proxies }: Resources, everyMs = minuteMs): Sweep[] {
  const { exports: wanted } = catalog.settings;
  if (wanted === undefined) return [];
  let place: FileStore | undefined;
  return [
    {
      everyMs,
      failure: `a day could not be exported to ${wanted.to}; trying again later`,
      async round(shouldContinue, ended) {
        place ??= await openExportPlace(wanted, () => agentsThrough(proxies));
        await exportFinished({ ...wanted, database, place, log }, shouldContinue, ended);
      },
      end: () => place?.close(),
    },
  ];
}

/** Starts all sweeps; the returned function ends them, each after its current step. */
export function startSweeps(
  resources: Resources,
  { filesEveryMs, usageEveryMs, retentionEveryMs }: GatewayOptions,
): () => Promise<void> {
  const { database, sharedClock, log, role } = resources;
  const all = [
    holds(resources),
    certificate(resources),
    files(resources, filesEveryMs),
    rates(resources),
    deleted("bodies", () => sweepBodies(database, earlierMs(resources))),
    deleted("answers", () => sweepAnswers(database)),
    deleted("sign-ins", () => sweepSignIns(database, sharedClock.now())),
    indexes(resources),
    usage(resources, usageEveryMs),
    retention(resources, retentionEveryMs),
    ...exports(resources, retentionEveryMs),
  ].map(({ end, ...sweep }) => {
    const stop = startPeriodicWork({ ...sweep, sweeps: role.sweeps, log });
    return async () => {
      await stop();
      await end?.();
    };
  });
  return async () => void (await Promise.all(all.map((stop) => stop())));
}
