/**
 * kill -9 in the middle of 200 calls a second, ten times, on each kind of database: no answer that its caller saw whole
 * is uncharged, none is charged twice, no reservation outlives its lease, and the ledger adds up.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/storage/index.ts";
import { silentLog, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { spawnGateway, tollgate, type GatewayProcess } from "../support/process.ts";

const kills = 10;
const callsPerSecond = 200;
const secondsBetweenKills = 1.5;

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

describe.each(["embedded", "PostgreSQL"])("kill -9 under load, %s", (kind) => {
  it(
    "BILL-01 T65 T67: every answer seen whole is charged exactly once, and no hold is left",
    { timeout: 240_000 },
    async () => {
      const directory = mkdtempSync(join(tmpdir(), "tollgate-kill-"));
      const url = kind === "PostgreSQL" ? await postgres.createDatabase() : undefined;
      const environment: Record<string, string> = {
        TOLLGATE_DATA_DIR: join(directory, "data"),
        TOLLGATE_SANDBOX: "on",
        TOLLGATE_LOG_LEVEL: "error",
        DATABASE_URL: url ?? "",
      };
      const seenWhole = new Map<string, number>();
      let key = "";
      for (let round = 0; round < kills; round += 1) {
        const gateway = await spawnGateway(environment);
        key ||= /gw_live_\w+/.exec(gateway.banner)![0];
        const load = driveUntilDead(gateway, key, seenWhole);
        await sleep(secondsBetweenKills * 1000);
        await gateway.kill();
        await load;
      }
      expect(seenWhole.size).toBeGreaterThan(kills * callsPerSecond * 0.5);

      // One more life, which sweeps what the dead left behind.
      const last = await spawnGateway(environment);
      const database = await openDatabase({
        url,
        dataDir: environment["TOLLGATE_DATA_DIR"]!,
        join: true,
        log: silentLog,
      });
      try {
        await until(
          async () => (await database.query("select 1 from ledger_holds")).length === 0,
          90_000,
        );
        const charges = await database.query<{ reference: string; count: bigint }>(
          "select reference, count(*) as count from ledger_entries where kind = 'charge' group by reference",
        );
        const charged = new Map(charges.map((row) => [row.reference, Number(row.count)]));
        expect([...charged.values()].filter((count) => count !== 1)).toEqual([]);
        expect([...seenWhole.keys()].filter((id) => !charged.has(id))).toEqual([]);
        const verified = await tollgate(["verify"], environment);
        expect(verified).toMatchObject({ code: 0, stdout: "no difference\n" });
      } finally {
        await database.close();
        await last.stop();
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );
});

/** Steady load, half of it streamed, until the process is dead. Notes the ids of answers that came whole. */
async function driveUntilDead(
  gateway: GatewayProcess,
  key: string,
  seenWhole: Map<string, number>,
): Promise<void> {
  const calls: Promise<void>[] = [];
  let dead = false;
  gateway.child.once("exit", () => (dead = true));
  let number = 0;
  const started = performance.now();
  while (!dead) {
    const due = ((performance.now() - started) / 1000) * callsPerSecond;
    while (number < due && !dead) {
      number += 1;
      calls.push(oneCall(gateway.url, key, number % 2 === 0, seenWhole));
    }
    await sleep(5);
  }
  await Promise.all(calls);
}

async function oneCall(
  url: string,
  key: string,
  stream: boolean,
  seenWhole: Map<string, number>,
): Promise<void> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: "sandbox/chat",
        stream,
        messages: [
          { role: "user", content: '#sandbox {"reply": "a short answer", "delay_ms": 20}' },
        ],
      }),
    });
    const text = await response.text();
    const whole =
      response.status === 200 && (stream ? text.includes("[DONE]") : text.endsWith("}"));
    if (whole) seenWhole.set(response.headers.get("x-request-id")!, 1);
  } catch {
    // Cut off by the kill.
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(condition: () => Promise<boolean>, deadlineMs: number): Promise<void> {
  for (const started = Date.now(); Date.now() - started < deadlineMs;) {
    if (await condition()) return;
    await sleep(200);
  }
  throw new Error(`not within ${deadlineMs} ms`);
}
