/**
 * kill -9 in the middle of 200 calls a second, ten times, on each kind of database: no answer that its caller saw whole
 * is uncharged, none is charged twice, no reservation outlives its lease, and the ledger adds up. Design section 10.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway } from "../support/gateway.ts";
import {
  preparedDataDir,
  startPostgres,
  temporaryDirectory,
  type TestPostgres,
} from "../support/postgres.ts";
import { spawnGateway, tollgate } from "../support/process.ts";
import { booksOf, eventually, sleep } from "../money/support.ts";
import { drive, newLoad } from "./load.ts";

const kills = 10;
const callsPerSecond = 200;
/** What each life answers at least before its end. */
const answersALife = 60;
/** How long a reservation outlives its process. */
const leaseMs = 60_000;
/** 100 tokens in and 50 out at the sandbox's prices. */
const costNano = 100n * 500n + 50n * 2_000n;
const text =
  '#sandbox {"reply": "a short answer", "delay_ms": 20, "chunk_delay_ms": 5, "usage": {"input": 100, "output": 50}}';

let postgres: TestPostgres;
beforeAll(async () => {
  // As in operation: what is committed is on the disk.
  postgres = await startPostgres({ fsync: true });
});
afterAll(() => postgres.stop());

describe.each(["embedded", "PostgreSQL"])("kill -9 under load, %s", (kind) => {
  it(
    "BILL-01 T65 T67: every answer seen whole is charged exactly once, and no hold is left",
    { timeout: 180_000 },
    async () => {
      const dataDir = kind === "embedded" ? await preparedDataDir() : temporaryDirectory();
      const databaseUrl = kind === "embedded" ? undefined : await postgres.createDatabase();
      const environment: Record<string, string> = {
        TOLLGATE_DATA_DIR: dataDir,
        TOLLGATE_SANDBOX: "on",
        TOLLGATE_LOG_LEVEL: "error",
        DATABASE_URL: databaseUrl ?? "",
      };
      const load = newLoad();
      let key = "";
      for (let round = 0; round < kills; round += 1) {
        const gateway = await spawnGateway(environment);
        const { url, banner, child } = gateway;
        key ||= /gw_live_\w+/.exec(banner)![0];
        const until = () => child.exitCode !== null || child.signalCode !== null;
        const driven = drive(
          { url, key, perSecond: callsPerSecond, model: "sandbox/chat", text, until },
          load,
        );
        // On a machine with other work, until enough has happened for the death to be in the middle of something.
        const enough = load.whole.size + answersALife;
        await sleep(400);
        await eventually(() => (load.whole.size > enough ? true : undefined), "answers", 20_000);
        await sleep(Math.random() * 400);
        await gateway.kill();
        await driven;
      }
      expect([...load.refused]).toEqual([]);
      expect(load.cut).toBeGreaterThan(kills);

      // One more life, a lease later by its clock: it sweeps what the dead left behind.
      const gateway = await startTestGateway({
        environment: { TOLLGATE_DATA_DIR: dataDir },
        ...(databaseUrl === undefined ? {} : { databaseUrl }),
        clock: { now: () => Date.now() + leaseMs },
      });
      try {
        const books = booksOf(gateway.database);
        await books.expectClean();
        const charges = await books.charges();
        expect(charges.filter((row) => row.amount_nano !== costNano)).toEqual([]);
        expect(charges.length).toBeLessThanOrEqual(load.begun);
        const charged = new Set(charges.map((row) => row.reference));
        expect([...load.whole].filter((id) => !charged.has(id))).toEqual([]);
        expect(await gateway.ledger.balance(gateway.workspaceId)).toMatchObject({
          chargedNano: costNano * BigInt(charges.length),
          heldNano: 0n,
        });
        expect(await tollgate(["verify"], environment)).toMatchObject({
          code: 0,
          stdout: "no difference\n",
        });
      } finally {
        await gateway.close();
      }
    },
  );
});
