/**
 * A gateway is killed (SIGKILL) repeatedly while it exports to a folder. Each file is there whole or not at all. In the end
 * each day is there once, with the sums of log and ledger.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { parquetMetadata } from "hyparquet";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { startGateway } from "../../src/cli/gateway.ts";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { shortOrLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";
import { seedCalls } from "../support/seed/calls.ts";

type Line = Readonly<Record<string, string>>;

const dayMs = 86_400_000;
const today = Math.floor((Date.now() - 3 * 3_600_000 - 1_000) / dayMs) * dayMs;
const days = shortOrLong(3, 20);
const calls = shortOrLong(6_000, 300_000);
const kills = shortOrLong(3, 60);

let directory: string;
let folder: string;
let url: string;
let database: Database;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-export-crash-"));
  folder = join(directory, "exports");
  url = await (await sharedPostgres()).createMigrated();
  database = await openDatabase({ url, log: silentLog });
  const size = { requests: calls, days, end: new Date(today) };
  const people = { keys: 8, models: 9, members: 4, providers: 3, workspaces: 3 };
  await seedCalls(database, { ...size, ...people });
  writeFileSync(join(directory, "tollgate.yaml"), `exports: { to: "${folder}" }\n`);
});
afterAll(async () => {
  await database.close();
  rmSync(directory, { recursive: true, force: true });
});

const environment = () => ({
  PORT: "0",
  DATABASE_URL: url,
  TOLLGATE_DATA_DIR: join(directory, "data"),
  TOLLGATE_CONFIG: join(directory, "tollgate.yaml"),
  TOLLGATE_SANDBOX: "off",
  TOLLGATE_INITIAL_CREDIT: "0",
});

function startExporting(): ChildProcess {
  return spawn(process.execPath, [new URL("exporting-gateway.ts", import.meta.url).pathname], {
    env: { ...process.env, ...environment() },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function namesIn(): { parts: string[]; files: string[] } {
  let names: string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    // The first gateway that exports makes the folder.
  }
  // From 0:10 to 3:00 the ledger's next day is over too.
  names = names.filter((name) => !name.includes(dayName(days)));
  const isPart = (name: string): boolean => name.startsWith(".part-");
  return { parts: names.filter(isPart), files: names.filter((name) => !isPart(name)).sort() };
}

const linesOf = (name: string): Line[] =>
  gunzipSync(readFileSync(join(folder, name)))
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

const dayName = (n: number): string =>
  new Date(today - (days - n) * dayMs).toISOString().slice(0, 10);
const wanted = ["ledger", "requests"].flatMap((what) =>
  Array.from({ length: days }, (_, n) => `${what}-${dayName(n)}.jsonl.gz`),
);

/** The number of rows that the database has for the day of a file. */
async function rowsOf(name: string): Promise<number> {
  const [, what, day] = /^(\w+)-(.*)\.(?:jsonl\.gz|parquet)$/.exec(name)!;
  const [from, to] = ["$1::timestamptz", "($1::timestamptz + interval '24 hours')"];
  const sql =
    what === "ledger"
      ? `select count(*)::integer as n from ledger_entries where created_at >= ${from} and created_at < ${to}`
      : `select count(*)::integer as n from requests where id >= 'req_' || id_time(${from}) and id < 'req_' || id_time(${to})`;
  const [row] = await database.query<{ n: number }>(sql, [`${day}T00:00:00Z`]);
  return row!.n;
}

/** Starts a gateway and kills it: while it writes a file, or as soon as one more file is there. */
async function exportAndDie(isAfterFile: boolean): Promise<{ leftPart: boolean }> {
  const before = namesIn();
  const child = startExporting();
  const gone = once(child, "exit");
  await eventually(
    () => {
      const { parts, files } = namesIn();
      if (isAfterFile) return files.length > before.files.length;
      return parts.some((name) => !before.parts.includes(name));
    },
    "the gateway exports",
    undefined,
    1,
  );
  child.kill("SIGKILL");
  await gone;
  return { leftPart: namesIn().parts.length > 0 };
}

/** Runs a gateway until every day is recorded as exported. It runs in this process, since nothing kills it. */
async function exportToTheEnd(): Promise<void> {
  const last = await startGateway({
    environment: readEnvironment(environment()),
    log: silentLog,
    retentionEveryMs: 20,
  });
  await eventually(
    async () => {
      const [row] = await database.query<{ n: number }>(
        "select count(*)::integer as n from exported_days",
      );
      return row!.n >= wanted.length;
    },
    "every day is noted",
    shortOrLong(undefined, 600_000),
  );
  await last.close();
}

it("after kill -9 while files are written, each day's file is complete, exists once, and agrees with the sums", async () => {
  let left = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const { leftPart } = await exportAndDie(kill % 2 === 1);
    left += leftPart ? 1 : 0;
    for (const name of namesIn().files)
      expect({ name, rows: linesOf(name).length }).toEqual({ name, rows: await rowsOf(name) });
    const recordedDays = await database.query<{ file: string }>(
      "select file from exported_days where day < $1",
      [dayName(days)],
    );
    expect(namesIn().files).toEqual(expect.arrayContaining(recordedDays.map(({ file }) => file)));
    if (namesIn().files.length === wanted.length) break;
  }
  // At least one gateway was killed in the middle of a file.
  expect(left).toBeGreaterThan(0);
  await exportToTheEnd();
  expect(namesIn()).toEqual({ parts: [], files: wanted });
  const recordedDays = await database.query<{ file: string; rows: bigint }>(
    "select file, rows from exported_days where day < $1 order by file",
    [dayName(days)],
  );
  expect(recordedDays.map(({ file, rows }) => [file, Number(rows)])).toEqual(
    await Promise.all(wanted.map(async (name) => [name, await rowsOf(name)])),
  );
  const sums = async (what: string, column: string, sql: string) => {
    const lines = wanted.filter((name) => name.startsWith(what)).flatMap(linesOf);
    const keys = new Set(
      lines.map((line) => `${line["workspace_id"]} ${line["id"] ?? line["entry"]}`),
    );
    const [row] = await database.query<{ n: number; nano: string }>(sql);
    expect({
      lines: lines.length,
      different: keys.size,
      nano: lines.reduce((sum, line) => sum + parseUsd(line[column]!), 0n),
    }).toEqual({ lines: row!.n, different: row!.n, nano: BigInt(row!.nano) });
  };
  // The days that are over. One of the many seeded calls may be from midnight.
  const seeded = "workspace_id like 'ws_seed_%'";
  await sums(
    "requests",
    "cost",
    `select count(*)::integer as n, sum(cost_nano)::text as nano from requests
     where ${seeded} and id < 'req_' || id_time('${dayName(days)}T00:00:00Z')`,
  );
  await sums(
    "ledger",
    "amount",
    `select count(*)::integer as n, sum(amount_nano)::text as nano from ledger_entries
     where ${seeded} and created_at < '${dayName(days)}T00:00:00Z'`,
  );
});

it("after kill -9, Parquet files are written again completely", async () => {
  writeFileSync(
    join(directory, "tollgate.yaml"),
    `exports: { to: "${folder}", format: parquet }\n`,
  );
  await database.query("delete from exported_days");
  expect(await exportAndDie(false)).toEqual({ leftPart: true });
  await exportToTheEnd();
  const { files, parts } = namesIn();
  expect(parts).toEqual([]);
  const made = files.filter((name) => name.endsWith(".parquet"));
  expect(made).toEqual(wanted.map((name) => name.replace(".jsonl.gz", ".parquet")));
  for (const name of made) {
    const { buffer } = new Uint8Array(readFileSync(join(folder, name)));
    const rows = Number(parquetMetadata(buffer).num_rows);
    expect({ name, rows }).toEqual({ name, rows: await rowsOf(name) });
  }
});
