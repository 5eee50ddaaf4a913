/**
 * L5: two gateways whose clocks differ, and midnight. A hard daily cap follows the database's day, and no day exceeds it. The
 * database's own clock is moved with theirs where possible (`ledger_now`).
 */
import { randomBytes } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { adminToken, call } from "../admin/support.ts";
import { shortOrLong } from "../support/long.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";

const preload = new URL("./shifted-clock.mjs", import.meta.url).href;
const capNano = 100_000_000n;
const callersEach = 6;
/** How long before midnight the load begins, and how long it continues after it. */
const beforeMs = 1_500;
const afterMs = 1_500;
const dayMs = 86_400_000;
/** 3,000 output tokens at the sandbox's prices: a sixteenth of the cap, so that the calls reach it within a moment. */
const script = { reply: "short", usage: { input: 10, output: 3_000 } };

/** A gateway whose clock can be set ahead while it runs. */
async function startAhead(url: string, masterKey: string) {
  const dataDir = temporaryDirectory();
  const file = join(dataDir, "ahead");
  const gateway = await spawnGateway({
    DATABASE_URL: url,
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_ADMIN_TOKEN: adminToken,
    TOLLGATE_MASTER_KEY: masterKey,
    TOLLGATE_SANDBOX: "on",
    TOLLGATE_LOG_LEVEL: "silent",
    TOLLGATE_TEST_CLOCK_FILE: file,
    NODE_OPTIONS: `--import=${preload}`,
  });
  const setClockAhead = (ms: number) => {
    writeFileSync(`${file}.new`, String(ms));
    renameSync(`${file}.new`, file);
  };
  return { gateway, setClockAhead };
}

async function newKey({ url }: GatewayProcess): Promise<string> {
  const admin = async (method: string, path: string, body?: object) => {
    const answer = await call(url, method, path, { token: adminToken, body });
    if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
    return answer.json;
  };
  const workspaceId = (await admin("GET", "/workspaces")).data[0].id;
  await admin("POST", `/workspaces/${workspaceId}/credits`, { amount: "1000" });
  const { id, key } = await admin("POST", "/keys", { workspace_id: workspaceId, name: "capped" });
  await admin("PATCH", `/keys/${id}`, { spend_caps: { daily: "0.1", hard: true } });
  return key;
}

async function keepCalling({ url }: GatewayProcess, key: string, untilMs: number): Promise<void> {
  const content = `#sandbox ${JSON.stringify(script)}`;
  while (performance.now() < untilMs) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: "sandbox/chat",
        max_tokens: 3_000,
        messages: [{ role: "user", content }],
      }),
    });
    await response.text();
    if (response.status !== 200) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const chargedByDay = (database: Database) =>
  database.query<{ day: string; charged: bigint }>(
    `select (created_at at time zone 'utc')::date as day, sum(amount_nano)::bigint as charged
     from ledger_entries where kind = 'charge' group by 1 order by 1`,
    [],
  );

describe("gateways whose clocks differ", () => {
  it.each(shortOrLong([700], [100, 300, 700]))(
    "CAP-02 CAP-09: by %i ms charge no day more than its hard cap at midnight",
    async (apartMs) => {
      const url = await (await sharedPostgres()).createMigrated();
      const database = await openDatabase({ url, log: silentLog });
      const masterKey = randomBytes(32).toString("base64");
      const [behind, ahead] = await Promise.all([
        startAhead(url, masterKey),
        startAhead(url, masterKey),
      ]);
      try {
        const key = await newKey(behind.gateway);
        const toMidnightMs = dayMs - (Date.now() % dayMs) - beforeMs;
        await database.query(
          `create or replace function ledger_now() returns timestamptz language sql volatile as
           'select clock_timestamp() + interval ''${toMidnightMs + Math.floor(apartMs / 2)} ms'''`,
        );
        behind.setClockAhead(toMidnightMs);
        ahead.setClockAhead(toMidnightMs + apartMs);
        const untilMs = performance.now() + beforeMs + afterMs;
        await Promise.all(
          [behind, ahead].flatMap(({ gateway }) =>
            Array.from({ length: callersEach }, () => keepCalling(gateway, key, untilMs)),
          ),
        );
        const days = await chargedByDay(database);
        expect(days.length).toBeGreaterThanOrEqual(1);
        expect(days.filter(({ charged }) => charged > capNano)).toEqual([]);
        // The cap was used: less than a few calls' worth is left.
        expect(days.some(({ charged }) => charged > capNano / 2n)).toBe(true);
        expect(await verifyLedger(database)).toEqual([]);
      } finally {
        await Promise.all([behind.gateway.kill(), ahead.gateway.kill()]);
        await database.close();
      }
    },
  );
});
