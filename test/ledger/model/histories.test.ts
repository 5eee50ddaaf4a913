/**
 * Random histories of several gateways on one database, compared with a sequential oracle. They have lost answers, batches that
 * arrive late, repeated or never, dead gateways, expired leases and late posts. Caps, keys and credits change; balances are tiny,
 * charges exceed bounds, accounts are locked, periods roll over. Each ends with nothing held and every charge once. The long form
 * runs 100,000; TOLLGATE_TEST_HISTORIES and TOLLGATE_TEST_SEED change count and first seed. A failure shows its seed and a shrunk
 * history.
 */
import { expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { verifyLedger } from "../../../src/verification/index.ts";
import * as gatewaySide from "../../../src/ledger/text-calls.ts";
import { openDatabase } from "../../../src/storage/index.ts";
import { shortOrLong, isLong } from "../../support/long.ts";
import { sharedPostgres } from "../../support/postgres.ts";
import { adapterOf } from "./adapter.ts";
import { runHistories } from "./histories.ts";
import { prepare } from "./world.ts";

const histories = Number(process.env["TOLLGATE_TEST_HISTORIES"] ?? shortOrLong(100, 100_000));
const firstSeed = Number(process.env["TOLLGATE_TEST_SEED"] ?? 1);
/**
 * Seeds that failed once. In one, a lane's allowances stayed held after another lane of the gateway had lapsed. The other two were
 * errors of the oracle. It took given-up calls as known to the database though a batch had not served their key. And it forgot
 * calls that a lapsed lease had left uncovered, when an older answer arrived after they were covered again.
 */
const failedOnce = [15_358, 30_211, 59_705];
/** Histories per database, so that it stays small. */
const atOnce = 5_000;

async function runOnNewDatabase(seed: number, count: number): Promise<Record<string, number>> {
  const adapter = adapterOf(gatewaySide);
  const url = await (await sharedPostgres()).createMigrated();
  await prepare(url, adapter);
  const { failures, counts } = await runHistories({
    url,
    adapter,
    firstSeed: seed,
    histories: count,
    abreast: 4,
    failuresMax: 1,
  });
  expect(failures).toEqual([]);
  const database = await openDatabase({ url, log: silentLog });
  expect(await verifyLedger(database)).toEqual([]);
  await database.close();
  return { ...counts };
}

it(
  "T63 T65 T67 CAP-09: gateways and database agree with the oracle in every random history, and nothing is held at the end",
  { timeout: shortOrLong(300_000, 7_200_000), retry: 0 },
  async () => {
    const seen: Record<string, number> = {};
    for (let done = 0; done < histories; done += atOnce) {
      const counts = await runOnNewDatabase(firstSeed + done, Math.min(atOnce, histories - done));
      for (const [name, count] of Object.entries(counts)) seen[name] = (seen[name] ?? 0) + count;
      if (!isLong) continue;
      const count = Math.min(done + atOnce, histories);
      console.log(`${count} histories`, JSON.stringify(seen)); // oxlint-disable-line no-console -- the figures
    }
    // The cases that matter did happen.
    for (const name of [
      "admitted in memory",
      "lapsed with something set aside",
      "straggler",
      "refused: cap_reached",
    ])
      expect(seen[name] ?? 0).toBeGreaterThan(0);
  },
);

it.each(failedOnce)(
  "T67 CAP-09: history %d, which failed once, ends with nothing held",
  async (seed) => {
    expect(await runOnNewDatabase(seed, 1)).toHaveProperty("admitted");
  },
);
