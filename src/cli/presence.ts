/** Every process that serves says every ten seconds that it does, and how it is doing. docs/management.md. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { forgetGateway, reportGateway, type Database } from "../storage/index.ts";
import { MasterKeyError, masterKeySignal, type OpenSecrets } from "../tenancy/index.ts";
import { version } from "../base/own-files.ts";

const everyMsDefault = 10_000;
/** The delay is looked at so often: rarely enough to cost nothing, and often enough for a 99th percentile. */
const resolutionMs = 50;
const endMsMax = 1_000;
const lacksKey = "this gateway lacks the master key of its database: restart it with the new one";

interface Presence {
  readonly database: Database;
  readonly log: Pick<Log, "warn" | "error">;
  readonly secrets: Pick<OpenSecrets, "masterKeys" | "refresh">;
  readonly inFlight: () => number;
  /** Since when the oldest call runs that is not recorded yet, as in ids. */
  readonly callsSince: () => string;
  readonly everyMs?: number | undefined;
}

/** Begins to report; the returned function ends it, and takes the process out of the list. */
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
    // What is measured is the time between two looks: the lateness is what is above it.
    const late = Math.max(0, delay.percentile(99) / 1e6 - resolutionMs);
    const eventLoopP99Ms = Number.isFinite(late) ? Math.round(late * 10) / 10 : 0;
    delay.reset();
    // Another process may have replaced the master key; what this one then says is what that one waits for.
    await secrets.refresh().catch((error: unknown) => {
      if (error instanceof MasterKeyError) log.error({ reason: error.message }, lacksKey);
    });
    // A call that was recorded since the report before may be on its way to the log: it counts once more.
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
    // A database that is gone must not hold the end up.
    const forgotten = forgetGateway(database, id).catch(() => undefined);
    await Promise.race([forgotten, sleep(endMsMax, undefined, { ref: false })]);
  };
}
