/**
 * Gateways with clocks that are weeks off: before and after the time that the request log is kept. The times and ids of their calls
 * are the database's, so no call is deleted early, and none is missing in a day's export. If the database's clock is the wrong one,
 * no gateway deletes what is young by its own. docs/operate.md "Clocks".
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { idMs } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { adminToken, call } from "../admin/support.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { spawnGateway } from "../support/process.ts";

const preload = new URL("./shifted-clock.mjs", import.meta.url).href;
const dayMs = 86_400_000;
const offDays = [-40, 40];

async function startOff(url: string, days: number, config = "") {
  const directory = temporaryDirectory();
  const file = join(directory, "ahead");
  writeFileSync(file, String(days * dayMs));
  writeFileSync(join(directory, "tollgate.yaml"), config);
  return spawnGateway({
    DATABASE_URL: url,
    TOLLGATE_DATA_DIR: directory,
    TOLLGATE_CONFIG: join(directory, "tollgate.yaml"),
    TOLLGATE_ADMIN_TOKEN: adminToken,
    TOLLGATE_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    TOLLGATE_SANDBOX: "on",
    TOLLGATE_LOG_LEVEL: "silent",
    TOLLGATE_TEST_CLOCK_FILE: file,
    NODE_OPTIONS: `--import=${preload}`,
  });
}

interface Row {
  readonly id: string;
  readonly off_s: number;
  readonly now_ms: number;
}

describe("a gateway whose clock is weeks off", () => {
  it("logs its calls under ids and times of the database's clock, and reports no other time to exports", async () => {
    const url = await (await sharedPostgres()).createMigrated();
    const database = await openDatabase({ url, log: silentLog });
    const gateways = await Promise.all(offDays.map((days) => startOff(url, days)));
    try {
      const manage = async (path: string, body: object) =>
        (await call(gateways[0]!.url, "POST", path, { token: adminToken, body })).json;
      const [workspace] = await database.query<{ id: string }>("select id from workspaces");
      const { key } = await manage("/keys", { workspace_id: workspace!.id, name: "any" });
      for (const gateway of gateways) {
        const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
          body: JSON.stringify({
            model: "sandbox/chat",
            messages: [{ role: "user", content: "Hi" }],
          }),
        });
        expect(answer.status).toBe(200);
        await answer.text();
      }
      const rows = await eventually(async () => {
        const found = await database.query<Row>(
          `select id, extract(epoch from created_at - now())::float8 as off_s,
             extract(epoch from now())::float8 * 1000 as now_ms from requests`,
        );
        return found.length === offDays.length ? found : undefined;
      }, "the rows of both calls");
      const off = rows.map((row) => ({
        id: Math.abs(idMs(row.id.slice("req_".length))! - row.now_ms) > dayMs,
        time: Math.abs(row.off_s * 1_000) > dayMs,
      }));
      expect(off).toEqual(offDays.map(() => ({ id: false, time: false })));
      const reports = await database.query<{ calls_since: string; now_ms: number }>(
        "select calls_since, extract(epoch from now())::float8 * 1000 as now_ms from gateways",
      );
      expect(reports).toHaveLength(offDays.length);
      for (const report of reports)
        expect(Math.abs(idMs(report.calls_since)! - report.now_ms)).toBeLessThan(dayMs);
    } finally {
      await Promise.all(gateways.map((gateway) => gateway.kill()));
      await database.close();
    }
  });
});

/** How many days ago calls were made, and files expired. */
const agesDays = [1, 40, 500];

describe("a database whose clock is 400 days ahead of the gateway's", () => {
  it("STORE-02: makes it delete only what is old by both clocks: calls, and files", async () => {
    const url = await (await sharedPostgres()).createMigrated();
    const database = await openDatabase({ url, log: silentLog });
    await database.query("insert into workspaces (id, name) values ('ws_any', 'any')");
    for (const days of agesDays) {
      await database.query(
        `insert into requests (workspace_id, id, created_at)
         values ('ws_any', 'req_' || id_time(now() - make_interval(days => $1)) || repeat('0', 16), now())`,
        [days],
      );
      await database.query(
        `insert into files (name, workspace_id, purpose, media_type, bytes, created_at, expires_at)
         values (repeat('a', 26) || $1::integer || '.png', 'ws_any', 'result', 'image/png', 1, now(), now() - make_interval(days => $1))`,
        [days],
      );
    }
    const config = "retention: { request_log_days: 30 }\n";
    const gateway = await startOff(url, -400, config);
    try {
      const left = async () => {
        const [row] = await database.query<{ calls: number; files: number }>(
          `select (select count(*)::integer from requests) as calls, (select count(*)::integer from files) as files`,
        );
        return row!;
      };
      await expect.poll(left, { timeout: 20_000 }).toEqual({ calls: 2, files: 2 });
    } finally {
      await gateway.kill();
      await database.close();
    }
  });
});
