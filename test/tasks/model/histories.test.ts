/**
 * Random histories of tasks, compared with an oracle. Gateways die, stop and lose answers of the database; vendors lie, are late and
 * lose requests; storage fails; callers cancel. At the end every task has ended, and its money, callback, files and log row match
 * its state. TOLLGATE_TEST_HISTORIES and TOLLGATE_TEST_SEED select other histories than the default.
 */
import { expect, it } from "vitest";
import { verifyLedger } from "../../../src/verification/index.ts";
import { shortOrLong } from "../../support/long.ts";
import { clock } from "../steps-support.ts";
import { faultsOf } from "./checks.ts";
import { History } from "./history.ts";
import { openWorld, type World } from "./world.ts";

const histories = Number(process.env["TOLLGATE_TEST_HISTORIES"] ?? shortOrLong(8, 1_000));
const firstSeed = Number(process.env["TOLLGATE_TEST_SEED"] ?? 1);
const stepsOfHistory = 70;

/** Runs the history of a seed. Returns its faults and how its tasks ended. */
async function run(world: World, seed: number) {
  const history = new History(world, seed);
  const runErrors = await history.run(stepsOfHistory).then(
    (): string[] => [],
    (error: unknown) => [String(error)],
  );
  const faults = [...runErrors, ...(await faultsOf(world, history.tasks))];
  const report = faults.length === 0 ? [] : [`seed ${seed}`, ...faults, ...history.log];
  return { report, ends: history.tasks.map(({ status }) => status) };
}

it(
  "T79 T80 T81 T82 T83: in random histories every task ends once, and its money, callback, files and log row match what its vendor did",
  { timeout: 120_000 + histories * 10_000, retry: 0 },
  async () => {
    const world = await openWorld(clock);
    const seen = new Set<string>();
    for (let seed = firstSeed; seed < firstSeed + histories; seed += 1) {
      const history = await run(world, seed);
      expect(history.report).toEqual([]);
      for (const end of history.ends) seen.add(end);
    }
    // The cases that matter did happen.
    const ends = ["canceled", "failed", "succeeded"];
    expect(ends.filter((end) => !seen.has(end) && histories > 5)).toEqual([]);
    expect(await verifyLedger(world.database)).toEqual([]);
    await world.pools.close();
    await world.vendors.recorder.close();
    await world.database.close();
  },
);
