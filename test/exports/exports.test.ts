/**
 * Exports read back from a folder and a bucket: every row of a day once, and the sums of the ledger to the nano-dollar. An
 * interrupted file is written again, without duplicates.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { restoreBackup, writeBackup } from "../../src/backup/index.ts";
import { newId } from "../../src/base/ids.ts";
import { parseUsd } from "../../src/base/money.ts";
import { exportPlacePattern } from "../../src/base/export-place.ts";
import { exportDay } from "../../src/exports/day.ts";
import { exportNext, openExportPlace, type ExportKind } from "../../src/exports/index.ts";
import type { FileStore } from "../../src/files/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { startS3, type S3Server } from "../files/s3-server.ts";
import { tollgateHere } from "../support/command.ts";
import { describeDatabase, temporaryDirectory } from "../support/postgres.ts";
import { seedCalls, seedId } from "../support/seed/calls.ts";

type Line = Readonly<Record<string, string>>;

const dayMs = 86_400_000;
/** The day that is not over yet for the log: its last calls may end three hours after midnight. */
const today = Math.floor((Date.now() - 3 * 3_600_000 - 1_000) / dayMs) * dayMs;
const days = 4;
const calls = 3_000;
const dayName = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const linesOf = (bytes: Buffer): Line[] =>
  gunzipSync(bytes)
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

/** Exports all days that are over, and returns the names of their files. */
async function exportAll(
  database: Database,
  place: FileStore,
  kind: ExportKind,
): Promise<string[]> {
  const files: string[] = [];
  for (;;) {
    const done = await exportNext(database, place, kind);
    if (done === undefined) return files;
    files.push(done.file);
  }
}

async function filesOf(place: FileStore, names: readonly string[]): Promise<Line[][]> {
  const all: Line[][] = [];
  for (const name of names) all.push(linesOf(await buffer((await place.open(name))!.stream)));
  return all;
}

const sumOf = (lines: readonly Line[], column: string): bigint =>
  lines.reduce((sum, line) => sum + parseUsd(line[column]!), 0n);

async function one<Row extends object>(database: Database, sql: string): Promise<Row> {
  return (await database.query<Row>(sql, []))[0]!;
}

describeDatabase("exports", (open) => {
  let database: Database;
  let s3: S3Server;
  const folder = temporaryDirectory();
  beforeAll(async () => {
    database = await open();
    s3 = await startS3();
    await seedCalls(database, {
      requests: calls,
      days,
      keys: 8,
      models: 9,
      members: 4,
      providers: 3,
      workspaces: 3,
      end: new Date(today),
    });
    // Calls just before midnight UTC, at midnight, and of today, which is not over.
    await database.query(
      "insert into requests (workspace_id, id, cost_nano, created_at) select $1, id, 1, now() from unnest($2::text[]) id",
      [
        seedId.workspace(1),
        [
          newId("req", today - dayMs - 1),
          newId("task", today - dayMs),
          newId("req", today - 1),
          newId("req", today),
        ],
      ],
    );
  });
  afterAll(() => s3.close());

  it("leave no file when they break off, or write it again; a day is recorded only once its file is there", async () => {
    const place = await openExportPlace({ to: folder });
    const broken: FileStore = {
      ...place,
      put: (name, source, options) =>
        place.put(
          name,
          (async function* () {
            for await (const chunk of source as Readable) {
              yield chunk as Uint8Array;
              throw new Error("the disk is full");
            }
          })(),
          options,
        ),
    };
    await expect(exportNext(database, broken, "ledger")).rejects.toThrow("the disk is full");
    expect(readdirSync(folder)).toEqual([]);
    const killed: FileStore = {
      ...place,
      async put(name, source, options) {
        await place.put(name, source, options);
        throw new Error("killed");
      },
    };
    await expect(exportNext(database, killed, "ledger")).rejects.toThrow("killed");
    const [first] = readdirSync(folder);
    const before = linesOf(readFileSync(join(folder, first!)));
    expect(await database.query("select * from exported_days")).toEqual([]);
    // One of two parallel exports writes the day. The other fails because that one is in flight, or writes the next day.
    const done = await Promise.allSettled([1, 2].map(() => exportNext(database, place, "ledger")));
    const files = done.flatMap((one) => (one.status === "fulfilled" ? [one.value?.file] : []));
    expect(files.filter((file) => file === first)).toHaveLength(1);
    expect(linesOf(readFileSync(join(folder, first!)))).toEqual(before);
  });

  it("add up to the ledger to the nano-dollar, with each entry once in its day", async () => {
    const place = await openExportPlace({ to: folder });
    await exportAll(database, place, "ledger");
    const names = readdirSync(folder).sort().slice(0, days);
    const wanted = Array.from({ length: days }, (_, n) => dayName(today - (days - n) * dayMs));
    expect(names).toEqual(wanted.map((day) => `ledger-${day}.jsonl.gz`));
    const files = await filesOf(place, names);
    for (const [place, lines] of files.entries())
      expect(new Set(lines.map((line) => line["created_at"]!.slice(0, 10)))).toEqual(
        new Set([wanted[place]]),
      );
    const lines = files.flat();
    const before = `created_at < to_timestamp(${today / 1000})`;
    const books = await one<{ n: number; charged: bigint; credits: bigint }>(
      database,
      `select count(*)::integer as n, sum(amount_nano) filter (where kind = 'charge')::bigint as charged,
         sum(amount_nano) filter (where kind = 'credit')::bigint as credits from ledger_entries where ${before}`,
    );
    expect(lines).toHaveLength(books.n);
    expect(new Set(lines.map(({ entry }) => entry)).size).toBe(books.n);
    const of = (kind: string): bigint =>
      sumOf(
        lines.filter((line) => line["kind"] === kind),
        "amount",
      );
    expect(of("charge")).toBe(books.charged);
    expect(of("credit")).toBe(books.credits);
    expect(await exportAll(database, place, "ledger")).toEqual([]);
  });

  it("go to a bucket under its prefix, with each call of the log once in the day of its id and the ledger's costs", async () => {
    const { bucket, endpoint, region, accessKeyId, secretAccessKey } = s3.options;
    const to = `s3://${bucket}/audit//log/`;
    const place = await openExportPlace({ to, endpoint, region, accessKeyId, secretAccessKey });
    const names = await exportAll(database, place, "requests");
    expect(names).toHaveLength(days);
    const files = await filesOf(place, names);
    const ids = files.flat().map(({ id }) => id!);
    const rows = await database.query<{ id: string; cost: bigint }>(
      `select id, cost_nano as cost from requests where id < 'req_' || id_time(to_timestamp(${today / 1000})) or id like 'task%'`,
      [],
    );
    expect(ids.toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
    expect(sumOf(files.flat(), "cost")).toBe(rows.reduce((sum, { cost }) => sum + cost, 0n));
    const last = files.at(-1)!.map(({ id }) => id!);
    expect(last.filter((id) => id.startsWith("task_"))).toHaveLength(1);
    const [line] = files[0]!;
    expect(line).toMatchObject({ usage: { input_tokens: expect.any(Number) as number } });
    await place.close();
  });

  it("by `tollgate export` write the same files for past days, and record nothing", async () => {
    const into = temporaryDirectory();
    const recordedDays = await database.query("select * from exported_days order by what, day");
    const { connectionString } = database.pool.options;
    const environment = { DATABASE_URL: connectionString!, TOLLGATE_DATA_DIR: into };
    const run = (...words: string[]) =>
      tollgateHere(["export", ...words, "--into", join(into, "days")], environment);
    const [from, to] = [dayName(today - 2 * dayMs), dayName(today - dayMs)];
    const { code, stdout } = await run("ledger", "--from", from, "--to", to, "--json");
    expect(code).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(
      [from, to].map((day) => ({
        day,
        file: `ledger-${day}.jsonl.gz`,
        rows: expect.any(Number) as number,
        bytes: expect.any(Number) as number,
      })),
    );
    const names = readdirSync(join(into, "days")).sort();
    expect(names).toEqual([from, to].map((day) => `ledger-${day}.jsonl.gz`));
    const [again, before] = [join(into, "days"), folder].map((place) =>
      linesOf(readFileSync(join(place, names[0]!))),
    );
    expect(again).toEqual(before);
    expect(await database.query("select * from exported_days order by what, day")).toEqual(
      recordedDays,
    );
    expect(await run("ledger", "--from", dayName(today + 2 * dayMs))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^tollgate: --from is \d{4}-\d\d-\d\d, which is not over yet in UTC; the last day that is over is \d{4}-\d\d-\d\d\n$/,
      ) as string,
    });
    expect(await run("keys", "--from", from)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("it takes requests, ledger") as string,
    });
  });

  it("by `tollgate export` do not overwrite the file of a day whose calls retention has removed", async () => {
    const { connectionString } = database.pool.options;
    const into = temporaryDirectory();
    const environment = { DATABASE_URL: connectionString!, TOLLGATE_DATA_DIR: into };
    const run = (...words: string[]) =>
      tollgateHere(["export", ...words, "--into", into], environment);
    const [gone, kept] = [dayName(today - 2 * dayMs), dayName(today - dayMs)];
    const file = join(into, `requests-${gone}.jsonl.gz`);
    expect(await run("requests", "--from", gone)).toMatchObject({ code: 0 });
    const before = readFileSync(file);
    await database.query("insert into request_log_start (id_time) values ($1)", [
      newId("req", today - dayMs).slice(4, 14),
    ]);
    expect(await run("requests", "--from", gone, "--to", kept)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`retention has removed calls of ${gone}`) as string,
    });
    expect(readFileSync(file)).toEqual(before);
    expect(await run("requests", "--from", kept)).toMatchObject({ code: 0 });
    expect(await run("ledger", "--from", gone)).toMatchObject({ code: 0 });
    await database.query("delete from request_log_start");
  });

  it("keep the files of past days after a restore, because they have what the backup lacks", async () => {
    const restored = await open();
    await seedCalls(restored, {
      requests: 40,
      days: 2,
      keys: 1,
      models: 1,
      members: 1,
      providers: 1,
      workspaces: 1,
      end: new Date(today),
    });
    const into = temporaryDirectory();
    const place = await openExportPlace({ to: into });
    const quiet = { progress: () => undefined, files: undefined };
    const backup = new PassThrough();
    const bytes = buffer(backup);
    await writeBackup({ ...quiet, database: restored, destination: backup, version: "" });
    // A call after the backup, which is exported before the restore.
    await restored.query("insert into requests (workspace_id, id) values ($1, $2)", [
      seedId.workspace(1),
      newId("req", today - 1),
    ]);
    const requests = await exportAll(restored, place, "requests");
    const ledger = await exportAll(restored, place, "ledger");
    expect(requests).toHaveLength(2);
    // Until 3:00 the last day is over for the ledger but not for the log.
    expect([2, 3]).toContain(ledger.length);
    const before = [...requests, ...ledger].map(
      (name) => [name, readFileSync(join(into, name))] as const,
    );
    await restoreBackup({
      ...quiet,
      database: restored,
      source: Readable.from([await bytes]),
      replace: true,
      check: () => Promise.resolve(),
    });
    const kept = await exportNext(restored, place, "requests");
    expect(kept).toMatchObject({ file: before[0]![0], kept: true });
    await exportAll(restored, place, "requests");
    await exportAll(restored, place, "ledger");
    for (const [name, whole] of before) expect(readFileSync(join(into, name))).toEqual(whole);
    expect(await restored.query("select * from exported_days")).toHaveLength(before.length);
    // By hand, the export refuses to overwrite the file, and writes it elsewhere.
    const { connectionString } = restored.pool.options;
    const environment = { DATABASE_URL: connectionString!, TOLLGATE_DATA_DIR: into };
    const day = dayName(today - dayMs);
    const run = (to: string) =>
      tollgateHere(["export", "requests", "--from", day, "--into", to], environment);
    expect(await run(into)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("may have what the backup lacks") as string,
    });
    expect(await run(join(into, "elsewhere"))).toMatchObject({ code: 0 });
    // If the file of a day is missing, the export writes it.
    rmSync(join(into, before[0]![0]));
    await restored.query("delete from exported_days");
    expect(await exportNext(restored, place, "requests")).toMatchObject({ kept: false });
  });

  it("refuse a place with a mistyped scheme instead of creating a folder of that name", async () => {
    for (const to of [
      "s3:/audit/log",
      "S3://audit",
      "s3://",
      "s3:audit",
      "gs://audit",
      "https://a/b",
    ]) {
      await expect(openExportPlace({ to })).rejects.toThrow("is no place for exports");
      expect(
        await tollgateHere(["export", "ledger", "--from", "2026-01-01", "--into", to], {}),
      ).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("is no place for exports") as string,
      });
    }
    const folders = ["C:\\exports", "./a:b", "exports"].map((to) =>
      new RegExp(exportPlacePattern).test(to),
    );
    expect(folders).toEqual([true, true, true]);
  });

  it("report a folder that cannot be created in one line", async () => {
    const file = join(temporaryDirectory(), "exports");
    writeFileSync(file, "");
    for (const into of [file, join(file, "below")])
      expect(
        await tollgateHere(["export", "ledger", "--from", "2026-01-01", "--into", into], {}),
      ).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^tollgate: ".*" is no place for exports, .*\n$/) as string,
      });
  });

  it("hold a day for 15 minutes at most if their process is stopped in the middle", async () => {
    const place = await openExportPlace({ to: temporaryDirectory() });
    const wait = await database.transaction(async (tx) => {
      await exportDay(tx, place, { kind: "ledger", day: dayName(today - dayMs) });
      return tx.query("show idle_in_transaction_session_timeout");
    });
    expect(wait).toEqual([{ idle_in_transaction_session_timeout: "15min" }]);
  });

  it("leave a day open while one of its calls may still change", async () => {
    const other = await open();
    await other.query("insert into workspaces (id, name) values ('w', 'w')");
    const at = today - 5 * dayMs;
    await other.query("insert into requests (workspace_id, id) select 'w', unnest($1::text[])", [
      [
        newId("req", at),
        newId("req", at + dayMs),
        newId("req", 5),
        newId("req", today + 900 * dayMs),
      ],
    ]);
    await other.query(
      `insert into ledger_holds (workspace_id, id, key_id, kind, amount_nano, lease_until, created_at)
       values ('w', $1, 'k', 'task', 0, now(), now())`,
      [newId("task", at + dayMs + 5)],
    );
    const place = await openExportPlace({ to: temporaryDirectory() });
    // The row with a time near the epoch has its own day. The one with a time far ahead is exported only then.
    const of = (ms: number): string => `requests-${dayName(ms)}.jsonl.gz`;
    expect(await exportAll(other, place, "requests")).toEqual([of(5), of(at)]);
    await other.query("delete from ledger_holds");
    expect(await exportAll(other, place, "requests")).toEqual([of(at + dayMs)]);
  });
});
