/**
 * Parquet exports, read back by a third-party reader, in a folder and in a bucket. They have the same rows as the day's JSON
 * lines, and money exact to the nano-dollar. Memory does not grow with the day.
 */
import { parquetMetadata } from "hyparquet";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { noUsage, renderUsage } from "../../src/base/usage.ts";
import { columns } from "../../src/exports/columns.ts";
import { exportDay } from "../../src/exports/day.ts";
import { exportNext, openExportPlace, type ExportKind } from "../../src/exports/index.ts";
import { parquetOf } from "../../src/exports/parquet.ts";
import type { FileStore } from "../../src/files/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { startS3, type S3Server } from "../files/s3-server.ts";
import { tollgateHere } from "../support/command.ts";
import { shortOrLong } from "../support/long.ts";
import { describeDatabase, temporaryDirectory } from "../support/postgres.ts";
import { seedCalls, seedId } from "../support/seed/calls.ts";
import { columnTypes, lineOf, readParquet, type Row } from "./parquet-read.ts";

const dayMs = 86_400_000;
const today = Math.floor((Date.now() - 3 * 3_600_000 - 1_000) / dayMs) * dayMs;
const dayName = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const [day, quietDay] = [dayName(today - dayMs), dayName(today - 9 * dayMs)];

/** Every plane of Unicode, and characters that trouble spreadsheets, line readers or JSON. */
const text = "line\u2028\u2029\r\n\t\"quote\" 'it''s' \\ ; , ä ß 你好 \u{1F680} \u{10FFFF} \uFFFD";
/** The largest amounts that the ledger can hold. */
const most = 2n ** 63n - 1n;
const odd = {
  nulls: newId("req", today - dayMs),
  full: newId("req", today - dayMs + 1),
  task: newId("task", today - 1),
};

async function addOddRows(database: Database): Promise<void> {
  const workspace = seedId.workspace(1);
  await database.query("insert into requests (workspace_id, id) values ($1, $2)", [
    workspace,
    odd.nulls,
  ]);
  const json = JSON.stringify({ [text]: text });
  await database.query(
    `insert into requests (workspace_id, id, model, status, http_status, usage, cost_nano, duration_ms, dropped, notes, attempts,
       explanation, stream, error_message, tags, end_user)
     values ($1, $2, $3, $3, 2147483647, $4, $5, -2147483648, $6, $6, $7, $8, false, $3, $8, $3)`,
    [
      workspace,
      odd.full,
      text,
      JSON.stringify({ inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 1.5, videoTokens: 0 }),
      most,
      JSON.stringify([text]),
      `[${json}, {"half": "\\ud800", "nul": "\\u0000"}]`,
      json,
    ],
  );
  await database.query("insert into requests (workspace_id, id, cost_nano) values ($1, $2, 1)", [
    workspace,
    odd.task,
  ]);
  await database.query(
    `insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, note, created_at)
     select 'odd', 'odd_' || n, 'credit', amount, 0, amount, $2, $3
     from unnest($1::bigint[]) with ordinality a (amount, n)`,
    [[most, -most - 1n, 1n, -1n, 0n, 2n ** 53n + 1n], text, new Date(today - 1)],
  );
}

/** Exports a day in both formats, from one snapshot. */
async function bothFormats(database: Database, kind: ExportKind, on: string) {
  const folder = temporaryDirectory();
  const place = await openExportPlace({ to: folder });
  const done = await database.transaction(
    async (tx) => {
      const jsonl = await exportDay(tx, place, { kind, day: on });
      return { jsonl, parquet: await exportDay(tx, place, { kind, day: on, format: "parquet" }) };
    },
    { isolation: "repeatable read" },
  );
  const lines = gunzipSync(readFileSync(join(folder, done.jsonl.file)))
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
  const bytes = readFileSync(join(folder, done.parquet.file));
  expect(done.parquet).toEqual({
    file: `${kind}-${on}.parquet`,
    rows: lines.length,
    bytes: bytes.length,
  });
  return { lines, bytes, ...(await readParquet(bytes)) };
}

describeDatabase("exports as Parquet", (open) => {
  let database: Database;
  let s3: S3Server;
  beforeAll(async () => {
    database = await open();
    s3 = await startS3();
    const people = { keys: 8, models: 9, members: 4, providers: 3, workspaces: 3 };
    await seedCalls(database, {
      requests: shortOrLong(2_000, 20_000),
      days: 1,
      end: new Date(today),
      ...people,
    });
    await addOddRows(database);
  });
  afterAll(() => s3.close());

  it("have the rows of the JSON lines of requests, including nulls and odd texts, in typed columns", async () => {
    const { lines, rows, metadata } = await bothFormats(database, "requests", day);
    expect(rows.map(lineOf)).toEqual(lines);
    expect(Object.keys(rows[0]!)).toEqual(columns.requests.map(({ name }) => name));
    const tokens = Object.keys(renderUsage(noUsage));
    const { price_lines: _lines, ...first } = lines[0]!;
    expect(Object.keys(rows[0]!)).toEqual([...Object.keys(first), ...tokens, "price_lines"]);
    expect(columnTypes(metadata)).toMatchObject({
      id: "BYTE_ARRAY STRING",
      created_at: "INT64 TIMESTAMP",
      http_status: "INT32",
      cost: "FIXED_LEN_BYTE_ARRAY DECIMAL",
      duration_ms: "INT32",
      attempts: "BYTE_ARRAY STRING",
      stream: "BOOLEAN",
      output_tokens: "INT64",
    });
    const row = (id: string) => rows.find((one) => one["id"] === id)!;
    const given = Object.entries(row(odd.nulls)).filter(([, value]) => value !== null);
    expect(Object.fromEntries(given)).toEqual({
      id: odd.nulls,
      workspace_id: seedId.workspace(1),
      created_at: expect.any(Date) as Date,
      cost: 0n,
      dropped: "[]",
      notes: "[]",
      attempts: "[]",
      // The call cost nothing.
      price_lines: "[]",
    });
    // A value that is not a count is only in the whole usage.
    expect(row(odd.full)).toMatchObject({
      model: text,
      end_user: text,
      cost: most,
      input_tokens: BigInt(Number.MAX_SAFE_INTEGER),
      output_tokens: null,
    });
    expect(rows.every((one) => one["id"] === odd.full || one["cost"] !== most)).toBe(true);
  });

  it("add up to the ledger to the nano-dollar, also with the largest amounts", async () => {
    const { lines, rows, metadata } = await bothFormats(database, "ledger", day);
    expect(rows.map(lineOf)).toEqual(lines);
    expect(metadata.schema.find(({ name }) => name === "amount")).toMatchObject({
      precision: 38,
      scale: 9,
      type_length: 16,
    });
    expect(metadata.schema.find(({ name }) => name === "created_at")?.logical_type).toEqual({
      type: "TIMESTAMP",
      isAdjustedToUTC: true,
      unit: "MICROS",
    });
    const bounds = [day, dayName(today)];
    const [books] = await database.query<{ n: number; nano: string; balances: string }>(
      `select count(*)::integer as n, sum(amount_nano)::text as nano, sum(balance_after_nano)::text as balances from ledger_entries
       where created_at >= ($1 || 'T00:00Z')::timestamptz and created_at < ($2 || 'T00:00Z')::timestamptz`,
      bounds,
    );
    const sum = (name: string): bigint =>
      rows.reduce((all, row) => all + (row[name] as bigint), 0n);
    expect({ n: rows.length, nano: sum("amount"), balances: sum("balance_after") }).toEqual({
      n: books!.n,
      nano: BigInt(books!.nano),
      balances: BigInt(books!.balances),
    });
    const oddOnes = rows.filter((row) => row["workspace_id"] === "odd");
    expect(oddOnes.map((row) => row["amount"])).toEqual(
      expect.arrayContaining([most, -most - 1n, 1n, -1n, 0n, 2n ** 53n + 1n]),
    );
    expect(oddOnes[0]).toMatchObject({ note: text, key_id: null });
  });

  it("are the same byte for byte the second time; a day without rows is a file with columns", async () => {
    const [first, second] = [
      await bothFormats(database, "ledger", day),
      await bothFormats(database, "ledger", day),
    ];
    expect(first.bytes.equals(second.bytes)).toBe(true);
    for (const kind of ["requests", "ledger"] as const) {
      const { rows, lines, metadata } = await bothFormats(database, kind, quietDay);
      expect([rows, lines, metadata.num_rows]).toEqual([[], [], 0n]);
      expect(metadata.schema).toHaveLength(1 + columns[kind].length);
    }
  });

  it("go to a bucket once, and are recorded under their Parquet name", async () => {
    const { bucket, endpoint, region, accessKeyId, secretAccessKey } = s3.options;
    const to = `s3://${bucket}/lake`;
    const place = await openExportPlace({ to, endpoint, region, accessKeyId, secretAccessKey });
    const done = await exportNext(database, place, "requests", "parquet");
    const file = `requests-${day}.parquet`;
    expect(done).toMatchObject({ file });
    const { rows } = await readParquet(await buffer((await place.open(file))!.stream));
    expect(rows).toHaveLength(done!.rows);
    expect(rows.some(({ id }) => id === odd.task)).toBe(true);
    expect(await exportNext(database, place, "requests", "parquet")).toBeUndefined();
    expect(await exportNext(database, place, "requests")).toBeUndefined();
    expect(await database.query("select what, file from exported_days")).toEqual([
      { what: "requests", file },
    ]);
    await place.close();
  });

  it("are written by `tollgate export --format parquet`, which refuses unknown formats", async () => {
    const { connectionString } = database.pool.options;
    const into = temporaryDirectory();
    const environment = { DATABASE_URL: connectionString!, TOLLGATE_DATA_DIR: into };
    const run = (...words: string[]) =>
      tollgateHere(["export", "ledger", "--from", day, ...words, "--into", into], environment);
    expect(await run("--format", "parquet")).toMatchObject({ code: 0 });
    const { rows } = await readParquet(readFileSync(join(into, `ledger-${day}.parquet`)));
    expect(rows.length).toBeGreaterThan(0);
    expect(await run("--format", "csv")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("it takes jsonl, parquet") as string,
    });
  });

  it("leave no file and no thread when storage, rows or encoder fail", async () => {
    const folder = temporaryDirectory();
    const place = await openExportPlace({ to: folder });
    const full: FileStore = {
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
    const threads = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;
    const before = threads();
    await expect(exportNext(database, full, "ledger", "parquet")).rejects.toThrow(
      "the disk is full",
    );
    const put = (batches: AsyncIterable<readonly object[]>) =>
      place.put("ledger.parquet", parquetOf("ledger", batches), { mediaType: "", bytesMax: 1e9 });
    const broken = async function* () {
      yield [{ amount: "1" }];
      expect(threads()).toBeGreaterThan(before);
      throw new Error("the database is gone");
    };
    await expect(put(broken())).rejects.toThrow("the database is gone");
    const unreadable = async function* () {
      for (;;) yield [{ amount: "1e3" }];
    };
    await expect(put(unreadable())).rejects.toThrow("not a decimal USD amount");
    expect(readdirSync(folder)).toEqual([]);
    expect(threads()).toBe(before);
  });

  it("keep the names of tags, whichever rows come before", async () => {
    const tags = ["\\", "\n"].map((name) => ({ a: "1", [name]: "2" }));
    const source = async function* () {
      yield tags.map((one) => ({ tags: one }));
    };
    const parts: Uint8Array[] = [];
    for await (const part of parquetOf("requests", source())) parts.push(part);
    const { rows } = await readParquet(Buffer.concat(parts));
    expect(rows.map((row) => row["tags"])).toEqual(tags.map((one) => JSON.stringify(one)));
  });

  it("are written in groups of 10,000 rows or 8 MB of text, so that memory does not grow", async () => {
    const many = shortOrLong(25, 800);
    const shapes = [
      { batch: 500, line: { id: "req_1", cost: "1" }, batches: many, rowsMax: 10_000 },
      { batch: 50, line: { notes: ["x".repeat(100_000)] }, batches: 8, rowsMax: 100 },
    ];
    for (const { batch, line, batches, rowsMax } of shapes) {
      let read = 0;
      const source = async function* () {
        for (let n = 0; n < batches; n += 1) {
          read += batch;
          yield Array.from({ length: batch }, () => line);
        }
      };
      const parts: Uint8Array[] = [];
      /** For each part: the rows read by then, and the memory of the process. */
      const then: { readonly rows: number; readonly rss: number }[] = [];
      for await (const part of parquetOf("requests", source())) {
        parts.push(part);
        then.push({ rows: read, rss: process.memoryUsage.rss() });
      }
      const bytes = new Uint8Array(Buffer.concat(parts));
      const { num_rows: rows, row_groups: groups } = parquetMetadata(bytes.buffer);
      expect(Number(rows)).toBe(batch * batches);
      // The last part holds the remaining rows and the footer.
      expect(groups.length).toBeGreaterThan(1);
      expect(Math.max(...groups.map(({ num_rows: size }) => Number(size)))).toBe(rowsMax);
      const waited = then.map(({ rows: count }, place) => count - (then[place - 1]?.rows ?? 0));
      expect(Math.max(...waited)).toBeLessThanOrEqual(rowsMax);
      const [low, high] = [then[Math.floor(then.length / 4)]!, then.at(-1)!];
      expect(high.rss - low.rss).toBeLessThan(150 * 1024 * 1024);
    }
  });
});
