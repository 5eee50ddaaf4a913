/** Acknowledged writes of the embedded database are on the disk: each charge was synced before its answer left. */
import { expect, it } from "vitest";
import type { Database } from "../../src/storage/index.ts";
import { startTestGateway } from "../support/gateway.ts";
import { shortOrLong } from "../support/long.ts";
import { preparedDataDir } from "../support/postgres.ts";

/** How often the server has synced its write-ahead log so far. */
async function syncs(database: Database): Promise<number> {
  const [row] = await database.query<{ n: bigint }>(
    "select sum(fsyncs)::bigint as n from pg_stat_io where object = 'wal'",
    [],
  );
  return Number(row!.n);
}

it("BILL-01: each of several calls in sequence has its charge synced to the disk", async () => {
  const gateway = await startTestGateway({
    environment: { TOLLGATE_DATA_DIR: await preparedDataDir(), DATABASE_URL: "" },
  });
  const calls = shortOrLong(15, 40);
  const before = await syncs(gateway.database);
  for (let call = 0; call < calls; call += 1) {
    const response = await gateway.post("/v1/chat/completions", {
      model: "sandbox/chat",
      messages: [{ role: "user", content: "Hi" }],
    });
    expect(response.status).toBe(200);
    await response.text();
  }
  // The server updates its statistics about once a second.
  await expect
    .poll(() => syncs(gateway.database), { interval: 250 })
    .toBeGreaterThanOrEqual(before + calls);
  const charged = await gateway.database.query<{ n: bigint }>(
    "select count(*) as n from ledger_entries where kind = 'charge'",
    [],
  );
  expect(charged).toEqual([{ n: BigInt(calls) }]);
  await gateway.close();
});
