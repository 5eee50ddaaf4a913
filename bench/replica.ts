/**
 * `npm run bench:replica`: the cost of heavy reads for the primary, with and without a replica that answers them, for docs/scale.md.
 * 200,000 calls of 90 days; one read after the other. Only processor time, which is valid on a machine with other work too.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { listRequestHeadlines } from "../src/admin/index.ts";
import { silentLog } from "../src/base/log.ts";
import { migrate, openDatabase, openReplica, readsOf, type Reads } from "../src/storage/index.ts";
import { seesEverything } from "../src/tenancy/index.ts";
import { foldUsage, readUsage, type UsageFilter } from "../src/usage/index.ts";
import { startPair, type Server } from "../test/faults/whole/pair.ts";
import { eventually } from "../test/support/patience.ts";
import { temporaryDirectory } from "../test/support/postgres.ts";
import { largeSeed, seedCalls } from "../test/support/seed/calls.ts";
import { machineName, processorTimes, processTree, usedUs } from "./machine.ts";

const readsCount = 50;
const lookSeconds = 20;
const end = new Date("2026-11-20T00:00:00Z");
const dayMs = 86_400_000;
const visibility = seesEverything;
const usage = (more: Partial<UsageFilter>): UsageFilter => ({
  visibility,
  from: new Date(end.getTime() - 90 * dayMs),
  to: end,
  granularity: "day",
  ...more,
});
const rare = { visibility, limit: 100, rare: [() => "x.http_status = 599"] };

const questions: Readonly<Record<string, (reads: Reads) => Promise<unknown>>> = {
  "usage, 90 days by model": (reads) =>
    reads.read((database) => readUsage(database, usage({ groupBy: "model", top: 50 }))),
  "usage, 7 days by hour and key": (reads) =>
    reads.read((database) =>
      readUsage(
        database,
        usage({
          from: new Date(end.getTime() - 7 * dayMs),
          granularity: "hour",
          groupBy: "key",
          top: 50,
        }),
      ),
    ),
  "a page of the log": (reads) =>
    reads.read((database) => listRequestHeadlines(database, { visibility, limit: 100 })),
  "a page with a rare filter": (reads) =>
    reads.read((database) => listRequestHeadlines(database, rare)),
};

const pair = await startPair(temporaryDirectory(), false);
const primary = await openDatabase({ url: pair.urlOf(pair.primary.port), log: silentLog });
await migrate(primary);
await seedCalls(primary, { ...largeSeed, end });
await foldUsage(primary);
await primary.query("vacuum analyze");
const url = pair.urlOf(pair.standby.port);
const replica = openReplica({ url, primary, lagMsMax: 10_000, log: silentLog });
await eventually(() => replica.state.isUsed, "the replica to be used", 120_000);

/** Processor times of a server's processes, which include our own open connections. */
const timesOf = ({ dataDir }: Server) => {
  const pid = Number(readFileSync(join(dataDir, "postmaster.pid"), "utf8").split("\n")[0]);
  return processorTimes(processTree(pid));
};

/** Microseconds used at the primary and at the standby. */
async function used(work: () => Promise<unknown>): Promise<{ primary: number; standby: number }> {
  const before = [timesOf(pair.primary), timesOf(pair.standby)] as const;
  await work();
  return {
    primary: usedUs(before[0], timesOf(pair.primary)),
    standby: usedUs(before[1], timesOf(pair.standby)),
  };
}

const perRead = async (reads: Reads, ask: (reads: Reads) => Promise<unknown>) => {
  const times = await used(async () => {
    for (let count = 0; count < readsCount; count += 1) await ask(reads);
  });
  return [times.primary, times.standby].map((us) => Math.round(us / readsCount));
};

console.log(`${machineName}; microseconds of processor time for each read`);
console.log("| read | primary, alone | primary, with a replica | replica |");
for (const [name, ask] of Object.entries(questions)) {
  // Warms plans and pages on both.
  for (const reads of [readsOf(primary), replica]) for (const _ of [1, 2, 3]) await ask(reads);
  const [alone] = await perRead(readsOf(primary), ask);
  const [beside, there] = await perRead(replica, ask);
  console.log(`| ${name} | ${alone} | ${beside} | ${there} |`);
}
const looks = await used(() => sleep(lookSeconds * 1_000));
const perSecond = Math.round(looks.primary / lookSeconds);
console.log(`nothing asked for ${lookSeconds} s: ${perSecond} us a second at the primary`);
console.log(`answered: ${JSON.stringify(replica.state.answered)}`);
await replica.close();
const idle = await used(() => sleep(lookSeconds * 1_000));
console.log(`without looking: ${Math.round(idle.primary / lookSeconds)} us a second`);
await primary.close();
await pair.close();
