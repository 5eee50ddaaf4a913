/**
 * A gateway with a read replica: lists and usage, single records, CSV files, and the replica's health. docs/scale.md "Read
 * replicas".
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { newId } from "../../src/base/ids.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { adminToken, startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { startPair, type Pair } from "../faults/whole/pair.ts";
import { tollgateHere } from "../support/command.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { keptLog, pauseReplay, resumeReplay } from "./support.ts";

let pair: Pair;
let gateway: AdminGateway;
const kept = keptLog();
const dataDir = temporaryDirectory();

beforeAll(async () => {
  pair = await startPair(temporaryDirectory(), false);
  gateway = await startAdminGateway({
    databaseUrl: pair.urlOf(pair.primary.port),
    dataDir,
    log: kept.log,
    environment: {
      DATABASE_READ_URL: pair.urlOf(pair.standby.port),
      TOLLGATE_READ_LAG_SECONDS: "20",
    },
  });
  await untilUsed();
});

afterEach(() => resumeReplay(pair.standby).catch(() => undefined));

afterAll(async () => {
  await gateway.close();
  await pair.close();
});

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.split(" ")[1],
  );
};
const untilUsed = (): Promise<boolean> =>
  eventually(async () => (await metric("tollgate_replica_used")) === 1, "the replica to be used");
const readsOf = (database: "primary" | "replica"): Promise<number> =>
  metric(`tollgate_database_reads_total{database="${database}"}`);

async function chat(): Promise<string> {
  const answer = await gateway.post("/v1/chat/completions", {
    model: "sandbox/chat",
    messages: [{ role: "user", content: "Hi" }],
  });
  expect(answer.status).toBe(200);
  await answer.text();
  return answer.headers.get("x-request-id")!;
}

const idsOf = async (path: string): Promise<string[]> =>
  ((await gateway.admin("GET", path)).json.data as { id: string }[]).map(({ id }) => id);

const rounds = 10;

describe("a gateway with a standby that keeps up", () => {
  it("reads lists, neighbours, usage and the ledger from the standby, including what was just written", async () => {
    const before = { replica: await readsOf("replica"), primary: await readsOf("primary") };
    const ledger = `/workspaces/${gateway.workspaceId}/ledger`;
    let last = "";
    let seen = 0;
    for (let round = 1; round <= rounds; round += 1) {
      const id = await chat();
      if ((await idsOf("/requests?limit=1"))[0] === id) seen += 1;
      const { json: entries } = await gateway.admin("GET", `${ledger}?limit=1`);
      if (entries.data[0]?.reference === id) seen += 1;
      const { json: usage } = await gateway.admin("GET", "/usage");
      if (usage.data[0]?.requests === round) seen += 1;
      const near = await gateway.admin("GET", `/requests/${id}/neighbours`);
      expect(near.json).toEqual({ previous: null, next: last === "" ? null : last });
      last = id;
    }
    // If the machine stalls for half a second, the standby is too late once.
    expect(seen).toBeGreaterThan(3 * rounds - 5);
    expect(await readsOf("replica")).toBeGreaterThan(before.replica + 4 * rounds - 5);
    expect(await readsOf("primary")).toBeLessThan(before.primary + 5);
    expect(await metric("tollgate_replica_lag_seconds")).toBeLessThan(20);
  });

  it("reads CSV files, page by page, and the export of a day from the standby", async () => {
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const database = await openDatabase({ url: pair.urlOf(pair.primary.port), log: silentLog });
    await database.query(
      "insert into requests (workspace_id, id, status) select $1, id, 'failed' from unnest($2::text[]) id",
      [gateway.workspaceId, Array.from({ length: 300 }, () => newId("req"))],
    );
    await database.close();
    const before = await readsOf("replica");
    const period = "from=2026-01-01T00:00:00Z&to=2100-01-01T00:00:00Z";
    const text = await csv(`/requests?${period}`);
    // One head, the calls of the test above, and three more pages.
    expect(text.trim().split("\r\n")).toHaveLength(1 + rounds + 300);
    // If the machine stalls for half a second, one of the four pages may come from the primary.
    expect(await readsOf("replica")).toBeGreaterThanOrEqual(before + 3);
    const environment = {
      DATABASE_URL: pair.urlOf(pair.primary.port),
      DATABASE_READ_URL: pair.urlOf(pair.standby.port),
      TOLLGATE_DATA_DIR: dataDir,
    };
    const scans = await standbyScans();
    const words = ["export", "ledger", "--from", day, "--into", temporaryDirectory()];
    expect(await tollgateHere(words, environment)).toMatchObject({ code: 0, stderr: "" });
    await eventually(async () => (await standbyScans()) > scans, "a scan at the standby");
  });
});

/** The number of scans of the ledger at the standby. */
async function standbyScans(): Promise<number> {
  const database = await openDatabase({ url: pair.urlOf(pair.standby.port), log: silentLog });
  const [row] = await database.query<{ scans: bigint }>(
    "select seq_scan + coalesce(idx_scan, 0) as scans from pg_stat_user_tables where relname = 'ledger_entries'",
    [],
  );
  await database.close();
  return Number(row!.scans);
}

async function csv(path: string): Promise<string> {
  const answer = await fetch(`${gateway.url}/admin/v1${path}`, {
    headers: { authorization: `Bearer ${adminToken}`, accept: "text/csv" },
  });
  return answer.text();
}

describe("a gateway with a standby that lags", () => {
  it("finds single records by id; lists may be stale, and their next pages have no gap", async () => {
    const old = await chat();
    expect((await idsOf("/requests?limit=1"))[0]).toBe(old);
    await pauseReplay(pair.standby);
    const ids = [await chat(), await chat(), await chat()];
    const [first, second, third] = ids as [string, string, string];
    expect(await idsOf("/requests?limit=1")).toEqual([old]);
    for (const id of ids) {
      expect((await gateway.admin("GET", `/requests/${id}`)).status).toBe(200);
      const near = await gateway.admin("GET", `/requests/${id}/neighbours`);
      expect(near.status).toBe(200);
    }
    expect(await idsOf(`/requests?cursor=${third}`)).toEqual(
      expect.arrayContaining([second, first, old]),
    );
    const credited = await gateway.admin("POST", `/workspaces/${gateway.workspaceId}/credits`, {
      amount: "1",
    });
    const { id: entry, reference } = credited.json;
    const ledger = `/workspaces/${gateway.workspaceId}/ledger`;
    expect(await idsOf(`${ledger}?reference=${reference}`)).toEqual([entry]);
    const balance = await gateway.admin("GET", `/workspaces/${gateway.workspaceId}/balance`);
    expect(Number(balance.json.credits)).toBe(101);
    await resumeReplay(pair.standby);
    await eventually(async () => (await idsOf("/requests?limit=1"))[0] === third, "the new calls");
  });
});

describe("a gateway whose standby is down", () => {
  it("is ready, reads from the primary at once, and logs the change once", async () => {
    const lines = kept.lines.length;
    await pair.standby.kill();
    const id = await chat();
    for (let round = 0; round < 5; round += 1)
      expect((await idsOf("/requests?limit=1"))[0]).toBe(id);
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    expect(await metric("tollgate_replica_used")).toBe(0);
    expect(kept.lines.slice(lines)).toHaveLength(1);
    await pair.standby.start();
    await untilUsed();
    expect((await idsOf("/requests?limit=1"))[0]).toBe(id);
    expect(kept.lines.slice(lines)).toHaveLength(2);
  });
});

describe("`tollgate doctor`", () => {
  const finding = async (url: string, more: Record<string, string> = {}) => {
    const { stdout } = await tollgateHere(["doctor", "--json"], {
      DATABASE_URL: pair.urlOf(pair.primary.port),
      DATABASE_READ_URL: url,
      TOLLGATE_DATA_DIR: dataDir,
      ...more,
    });
    const { findings } = JSON.parse(stdout) as { findings: { check: string; message: string }[] };
    return findings.find(({ check }) => check === "read replica");
  };

  it("reports a replica that follows, and warns of one that lags", async () => {
    expect(await finding(pair.urlOf(pair.standby.port))).toMatchObject({
      status: "ok",
      message: expect.stringMatching(/^follows the database, \d+ ms behind at most$/),
    });
    expect(await finding("")).toBeUndefined();
    await pauseReplay(pair.standby);
    await chat();
    const behind = await finding(pair.urlOf(pair.standby.port), { TOLLGATE_READ_LAG_SECONDS: "1" });
    expect(behind).toMatchObject({
      status: "warning",
      message: expect.stringMatching(/^it is \d+ bytes behind, and did not catch up in 1 s$/),
    });
  });

  it("fails if the replica is the primary itself, belongs to another cluster, or does not answer", async () => {
    for (const [url, reason] of [
      [pair.urlOf(pair.primary.port), /it is the primary itself/],
      [await (await sharedPostgres()).createMigrated(), /another cluster, database or schema/],
      ["postgres://tollgate:hunter2@127.0.0.1:9/books", /ECONNREFUSED/],
    ] as const) {
      const found = await finding(url);
      expect(found).toMatchObject({ status: "failed", message: expect.stringMatching(reason) });
      expect(JSON.stringify(found)).not.toContain("hunter2");
    }
  });
});

describe("the variables of a replica", () => {
  const url = "postgres://tollgate:hunter2@db/books";

  it("a replica of the embedded database is refused with an error that names the fix", () => {
    const read = () => readEnvironment({ DATABASE_READ_URL: url });
    expect(read).toThrow(/^DATABASE_READ_URL needs DATABASE_URL: the embedded database has no /);
    expect(read).not.toThrow(/hunter2/);
  });

  it.each([
    [{ DATABASE_READ_URL: "hunter2" }, /^DATABASE_READ_URL is not a URL/],
    [{ TOLLGATE_READ_LAG_SECONDS: "soon" }, /^TOLLGATE_READ_LAG_SECONDS is "soon"/],
    [{ TOLLGATE_READ_LAG_SECONDS: "0.5" }, /^TOLLGATE_READ_LAG_SECONDS is "0.5"/],
  ])("%o is refused with an error that names the variable", (variables, reason) => {
    const read = () => readEnvironment({ DATABASE_URL: url, ...variables });
    expect(read).toThrow(reason);
    expect(read).not.toThrow(/hunter2/);
  });

  it("the lag limit is ten seconds by default", () => {
    const { databaseReadUrl, readLagMs } = readEnvironment({
      DATABASE_URL: url,
      DATABASE_READ_URL: url,
    });
    expect([databaseReadUrl, readLagMs]).toEqual([url, 10_000]);
  });
});
