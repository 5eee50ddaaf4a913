/** Every serving process reports its presence and its state every ten seconds. docs/management.md. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { forgetGateway, reportGateway, type Database } from "../storage/index.ts";
import { MasterKeyError, masterKeySignal, type OpenSecrets } from "../tenancy/index.ts";
import { version } from "../base/own-files.ts";

const everyMsDefault = 10_000;
/** Sampling interval of the event loop delay: rare enough to cost nothing, and frequent enough for a 99th percentile. */
const resolutionMs = 50;
const endMsMax = 1_000;
const missingMasterKey =
  "this gateway lacks the master key of its database: restart it with the new one";

interface Presence {
  readonly database: Database;
  readonly log: Pick<Log, "warn" | "error">;
  readonly secrets: Pick<OpenSecrets, "masterKeys" | "refresh">;
  readonly inFlight: () => number;
  /** Start of the oldest call that is not recorded yet, in the format of ids. */
  readonly callsSince: () => string;
  readonly everyMs?: number | undefined;
}

/** Starts the reports; the returned function ends them and removes the process from the list. */
export function startPresence({
  database,
  log,
  secrets,
  inFlight,
  callsSince,
  everyMs = everyMsDefault,
}: Presence): () => Promise<void> {
  const id = newId("gw");
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let underWay: Promise<void> | undefined;
  let sinceBefore = callsSince();
  const report = async (): Promise<void> => {
    // The histogram holds the time between two samples; the delay is the part above the sampling interval.
    const late = Math.max(0, delay.percentile(99) / 1e6 - resolutionMs);
    const eventLoopP99Ms = Number.isFinite(late) ? Math.round(late * 10) / 10 : 0;
    delay.reset();
    // Another process may have replaced the master key. It waits until this process reports the new one.
    await secrets.refresh().catch((error: unknown) => {
      if (error instanceof MasterKeyError) log.error({ reason: error.message }, missingMasterKey);
    });
    // A call recorded since the previous report may still be on its way to the log, so it counts in one more report.
    const since = callsSince();
    const oldest = since < sinceBefore ? since : sinceBefore;
    sinceBefore = since;
    try {
      const memoryBytes = process.memoryUsage.rss();
      await reportGateway(database, {
        id,
        version,
        inFlight: inFlight(),
        eventLoopP99Ms,
        memoryBytes,
        callsSince: oldest,
        masterKeys: secrets.masterKeys(),
      });
    } catch (error) {
      log.warn({ err: error }, "this gateway could not say that it is there");
    }
    underWay = undefined;
  };
  const begin = (): void => {
    underWay ??= report();
  };
  begin();
  const timer = setInterval(begin, everyMs);
  const endSignals = database.signals.subscribe(masterKeySignal, begin);
  return async () => {
    clearInterval(timer);
    endSignals();
    delay.disable();
    await underWay;
    // An unavailable database must not delay the end.
    const forgotten = forgetGateway(database, id).catch(() => undefined);
    await Promise.race([forgotten, sleep(endMsMax, undefined, { ref: false })]);
  };
}
