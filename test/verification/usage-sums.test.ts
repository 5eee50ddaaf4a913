/** The differences that `verify` finds in changed sums of usage: each value of each day, not only the day's total. */
import { beforeAll, expect, it } from "vitest";
import { renderVerification } from "../../src/http/admin/verify.ts";
import { createRequestLog } from "../../src/request-log/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { foldUsage } from "../../src/usage/index.ts";
import { createVerifier, verifyLedger } from "../../src/verification/index.ts";
import { addKey, addWorkspace } from "../ledger/support.ts";
import { eventually } from "../support/patience.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";
import { createLedger } from "../support/ledger.ts";
import { Calls, keysOf } from "../usage/model.ts";

describeDatabase("sums of usage that were changed", (open) => {
  let database: Database;
  const found = async (): Promise<string[]> =>
    (await verifyLedger(database)).map(({ what }) => what);

  beforeAll(async () => {
    database = await open();
    for (const id of ["w1", "w2"]) await addWorkspace(database, id);
    for (const [id, { workspace, member }] of Object.entries(keysOf))
      await addKey(database, { workspaceId: workspace, id, createdBy: member || undefined });
    const ledger = createLedger(database);
    await ledger.credit({ workspaceId: "w1", reference: "credit-1", amountNano: 1_000n });
    const log = createRequestLog(database, silentLog);
    const calls = new Calls(database, log);
    for (const [key, model, costNano] of [
      ["k1", "a/one", 300n],
      ["k1", "a/two", 20n],
      ["k2", "a/one", 1n],
    ] as const) {
      const id = calls.id(Date.now());
      const call = { workspaceId: "w1", keyId: key, keyRotation: 0, id, amountNano: costNano };
      await ledger.spend(call, () => Promise.resolve({ amountNano: costNano }));
      const ended = { status: "succeeded", errorCode: "" } as const;
      const row = { id, key, model, costNano, atMs: Date.now(), provider: "p", input: 1 };
      await calls.log({ ...row, ...ended, tookMs: 1 });
    }
    await ledger.close();
    await foldUsage(database);
    await log.flush();
  });

  it("have no difference while they are unchanged", async () => {
    expect(await found()).toEqual([]);
  });

  it("BILL-01: have a difference for each model or key between which cost was moved within a day", async () => {
    const move = (dimension: string, from: string, to: string, nano: number) =>
      database.query(
        `update usage_days set cost_nano = cost_nano + case value when $2 then -$4::bigint else $4::bigint end
         where workspace_id = 'w1' and dimension = $1 and not of_member and value in ($2, $3)`,
        [dimension, from, to, nano],
      );
    const day = new Date().toISOString().slice(0, 10);
    await move("model", "a/one", "a/two", 100);
    await move("key", "k1", "k2", 5);
    expect((await found()).toSorted()).toEqual([
      `usage of ${day} by key k1, cost`,
      `usage of ${day} by key k2, cost`,
      `usage of ${day} by model a/one, cost`,
      `usage of ${day} by model a/two, cost`,
    ]);
    await move("model", "a/two", "a/one", 100);
    await move("key", "k2", "k1", 5);
    expect(await found()).toEqual([]);
  });

  it("BILL-01: have differences with calls as counts and costs in dollars", async () => {
    const add = (count: number) =>
      database.query(
        "update usage_days set requests = requests + $1, cost_nano = cost_nano + $1 where workspace_id = 'w1' and dimension = 'total' and not of_member",
        [count],
      );
    await add(2);
    const verifier = createVerifier(database, silentLog);
    await eventually(() => verifier.start(), "a run may begin");
    const run = await eventually(async () => {
      const one = await verifier.read();
      return one?.state === "done" && one;
    }, "the run has ended");
    await verifier.close();
    await add(-2);
    const { differences } = renderVerification(run) as { differences: readonly object[] };
    const day = new Date().toISOString().slice(0, 10);
    expect(differences).toEqual(
      expect.arrayContaining([
        {
          workspace_id: "w1",
          what: `usage of ${day} by total, requests`,
          recorded: "5",
          computed: "3",
        },
        {
          workspace_id: "w1",
          what: `usage of ${day} by total, cost`,
          recorded: "0.000000323",
          computed: "0.000000321",
        },
      ]),
    );
  });
});
