/** Folding that is killed (SIGKILL) in the middle repeatedly, and that several processes do at once: every call counts once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { createRequestLog } from "../../src/request-log/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { migrate, openDatabase } from "../../src/storage/index.ts";
import { seesEverything } from "../../src/tenancy/index.ts";
import { foldUsage, readUsage } from "../../src/usage/index.ts";
import { addKey, addWorkspace } from "../ledger/support.ts";
import { shortOrLong } from "../support/long.ts";
import { patienceMs } from "../support/patience.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";
import { Calls, keyNames, keysOf } from "./model.ts";

/** Lets a child fold until it has printed `steps` new lines, then kills it. */
async function foldAndDie(url: string, steps: number): Promise<void> {
  const child = spawn(
    process.execPath,
    [new URL("./crash-child.ts", import.meta.url).pathname, url],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let lineCount = 0;
  const lines = createInterface({ input: child.stdout });
  const ended = once(lines, "close");
  lines.on("line", (line) => (lineCount += line === "0" ? 0 : 1));
  await expect.poll(() => lineCount, { timeout: patienceMs }).toBeGreaterThanOrEqual(steps);
  child.kill("SIGKILL");
  await ended;
}

it("after SIGKILLs and with two processes at once, the sums equal the ledger", async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const database = await openDatabase({ url, log: silentLog });
  await migrate(database);
  for (const id of ["w1", "w2"]) await addWorkspace(database, id);
  for (const [id, { workspace, member }] of Object.entries(keysOf))
    await addKey(database, { workspaceId: workspace, id, createdBy: member || undefined });
  const log = createRequestLog(database, silentLog);
  const calls = new Calls(database, log);
  const nowMs = Date.now();

  async function someCalls(count: number): Promise<void> {
    for (let place = 0; place < count; place += 1) {
      const key = keyNames[place % keyNames.length]!;
      const atMs = nowMs - place * 600_000;
      const id = calls.id(atMs);
      const costNano = place % 5 === 0 ? 0n : BigInt(place) * 1_000_003n;
      const row = {
        id,
        key,
        atMs,
        costNano,
        model: `m/${place % 3}`,
        provider: "p",
        status: "succeeded" as const,
        errorCode: "",
        input: place,
        tookMs: 100,
      };
      // One row in seven is written after its charge.
      if (place % 7 !== 0) await calls.log(row);
      if (costNano > 0n) await calls.charge({ id, key, atMs, costNano });
      if (place % 7 === 0) await calls.log(row);
    }
  }

  for (let round = 0; round < shortOrLong(3, 20); round += 1) {
    await Promise.all([someCalls(shortOrLong(120, 400)), foldAndDie(url, 3 + round)]);
  }
  const other = await openDatabase({ url, log: silentLog });
  await Promise.all([someCalls(50), foldUsage(database), foldUsage(other)]);
  await foldUsage(database);
  await other.close();

  const question = {
    fromMs: nowMs - 90 * 86_400_000,
    toMs: nowMs + 3_600_000,
    granularity: "day" as const,
    groupBy: "model" as const,
  };
  const rows = (await readUsage(database, {
    visibility: seesEverything,
    from: new Date(question.fromMs),
    to: new Date(question.toMs),
    granularity: "day",
    groupBy: "model",
  })) as { start: string; model: string; requests: number; cost: string }[];
  const expected = Object.entries(calls.answer(question)).map(
    ([name, { requests, cost }]) => [name, { requests, cost }] as const,
  );
  const read = rows.map(
    ({ start, model, requests, cost }) =>
      [`${start} ${model}`, { requests, cost: parseUsd(cost) }] as const,
  );
  expect(Object.fromEntries(read)).toEqual(Object.fromEntries(expected));
  const differences = await verifyLedger(database);
  expect(differences.filter(({ what }) => what.startsWith("usage"))).toEqual([]);
  const left = await database.query("select * from usage_pending", []);
  expect(left).toEqual([]);
  await database.close();
});
