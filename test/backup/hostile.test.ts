/**
 * Hostile backups: frames with wrong sizes and kinds, invalid headers, rows that fit no table, compression bombs. Their digests
 * are right, since an attacker can compute them. The restore refuses each in one line, takes little memory, and restores
 * nothing.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restoreBackup, writeBackup } from "../../src/backup/index.ts";
import { readFrames, type Frame } from "../../src/backup/frames.ts";
import { tablesOf } from "../../src/backup/schema.ts";
import { openFileStore, type FileStore } from "../../src/files/index.ts";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { tollgateHere } from "../support/command.ts";
import { shortOrLong } from "../support/long.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../support/postgres.ts";

const directory = temporaryDirectory();
const firstLine = Buffer.from("TOLLGATE BACKUP 1\n");
const mebibyte = 2 ** 20;

let target: Database;
let files: FileStore;
/** The frames of a valid backup with a row and a file. `fileOf` computes the end frame anew each time. */
let good: Frame[];
let end: object;

beforeAll(async () => {
  const postgres = await sharedPostgres();
  const source = await openDatabase({ url: await postgres.createMigrated(), log: silentLog });
  await source.query("insert into workspaces (id, name) values ('ws_1', 'one')");
  const out = new PassThrough();
  const reading = Array.fromAsync(readFrames(out));
  await writeBackup({
    database: source,
    files: undefined,
    destination: out,
    version: "1",
    progress: () => undefined,
  });
  await source.close();
  const all = await reading;
  good = [
    ...all.slice(0, -1),
    frame("F", { name: "a.png", bytes: 3 }),
    { kind: "D", payload: Buffer.from("abc") },
  ];
  end = { ...(JSON.parse(all.at(-1)!.payload.toString()) as object), files: 1 };
  target = await openDatabase({ url: await postgres.createDatabase(), log: silentLog });
  files = await openFileStore({ kind: "local" }, directory);
});
afterAll(() => target.close());

const frame = (kind: string, value: unknown): Frame => ({
  kind: kind as Frame["kind"],
  payload: Buffer.from(typeof value === "string" ? value : JSON.stringify(value)),
});

/** The bytes of a frame. `length` may differ from the real length. */
function bytesOf({ kind, payload }: Frame, pack = zstdCompressSync, length?: number): Buffer {
  const body = pack(payload);
  const head = Buffer.alloc(5);
  head.write(kind, "latin1");
  head.writeUInt32BE(length ?? body.length, 1);
  return Buffer.concat([head, body]);
}

const joined = (parts: readonly (Frame | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => (Buffer.isBuffer(part) ? part : bytesOf(part))));

/** A whole file of these frames and an end frame with the digest of `digested`, by default their own. */
function fileOf(parts: readonly (Frame | Buffer)[], last: unknown = end, digested = parts): Buffer {
  const bytes = joined(parts);
  const sha256 = createHash("sha256").update(joined(digested)).digest("hex");
  const lastFrame = typeof last === "object" && last !== null ? { ...last, sha256 } : last;
  return Buffer.concat([firstLine, bytes, bytesOf(frame("Z", lastFrame))]);
}

/** The valid frames, with the first frame of a kind replaced. */
function withFirst(kind: string, ...by: (Frame | Buffer)[]): (Frame | Buffer)[] {
  const at = good.findIndex((one) => one.kind === kind);
  return [...good.slice(0, at), ...by, ...good.slice(at + 1)];
}

/** The valid frames, with the rows of the table of workspaces replaced. */
function withRows(...by: Frame[]): Frame[] {
  const table = JSON.stringify({ table: "workspaces" });
  const at = good.findIndex(({ kind, payload }) => kind === "T" && payload.toString() === table);
  return [...good.slice(0, at + 1), ...by, ...good.slice(at + 2)];
}

async function restore(content: Buffer | Readable): Promise<unknown> {
  return restoreBackup({
    database: target,
    files,
    source: Buffer.isBuffer(content) ? Readable.from([content]) : content,
    replace: false,
    check: () => Promise.resolve(),
    progress: () => undefined,
  });
}

/** Expects that the restore fails with a message, and that it leaves nothing behind. */
async function refused(name: string, content: Buffer | Readable): Promise<void> {
  const error = await restore(content).then(
    () => new Error("restored"),
    (reason: unknown) => reason as Error,
  );
  expect(`${name}: ${error.name}: ${error.message}`).toMatch(/^.*: BackupError: [\P{Cc}]{1,500}$/u);
  expect([...(await objectsOf(target)), ...readdirSync(join(directory, "files"))]).toEqual([]);
}

/** All objects of the schema, to check that the database is as empty as before. */
const objectsOf = async (database: Database): Promise<unknown[]> => [
  ...(await tablesOf(database)),
  ...(await database.query(
    `select relname::text as name from pg_class where relnamespace = current_schema()::regnamespace
     union all select proname::text from pg_proc where pronamespace = current_schema()::regnamespace
     union all select typname::text from pg_type where typnamespace = current_schema()::regnamespace`,
  )),
];

const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const wrong = [null, 1, -1, 1e300, "", "x\n\u001b[2J", [], {}, [[]], true, "y".repeat(100_000)];
const texts = ["", "{", "null", "[]", "1", '"x"', "\u0000", deep(100_000), '{"a":'.repeat(50_000)];

describe("a hostile backup", () => {
  it("is refused if its header is missing or has fields of wrong types", async () => {
    const header = JSON.parse(good[0]!.payload.toString()) as Record<string, unknown>;
    const headers: unknown[] = [
      ...texts,
      ...["version", "migrations"].flatMap((name) =>
        wrong
          .filter((value) => name !== "version" || typeof value !== "string")
          .map((value) => ({ ...header, [name]: value })),
      ),
      { ...header, migrations: [null] },
      { ...header, migrations: [{ name: 1, checksum: {} }] },
      { ...header, migrations: [{ name: "x".repeat(10_000), checksum: "" }] },
      {
        ...header,
        migrations: Array.from({ length: 20_000 }, () => ({ name: "a", checksum: "b" })),
      },
      { ...header, version: "\u001b[2J" },
      { ...header, __proto__: { polluted: true } },
    ].slice(0, -1);
    for (const one of headers)
      await refused(JSON.stringify(one).slice(0, 80), fileOf(withFirst("H", frame("H", one))));
  });

  it("is reported as cut off if it ends in its first line or its header", async () => {
    const whole = fileOf(good);
    for (let at = 1; at < 60; at += 1)
      await expect(restore(whole.subarray(0, at))).rejects.toThrow("the backup is cut off");
  });

  it("is refused if sizes, kinds or compression are false", async () => {
    const [header] = good;
    const heads: [string, Buffer][] = [
      ["4 GB", bytesOf(header!, zstdCompressSync, 0xff_ff_ff_ff)],
      ["one byte more", bytesOf(header!, zstdCompressSync, bytesOf(header!).length - 4)],
      ["nothing", bytesOf(header!, zstdCompressSync, 0)],
      ["gzip", bytesOf(header!, gzipSync)],
      ["plain", bytesOf(header!, (bytes) => Buffer.from(bytes as Buffer))],
      ["half of it", bytesOf(header!, (bytes) => zstdCompressSync(bytes).subarray(0, 20))],
      ["no kind", bytesOf(frame("\u0000", "{}"))],
      ["another kind", bytesOf(frame("constructor", "{}"))],
      ["no header", Buffer.alloc(0)],
    ];
    for (const [name, bytes] of heads)
      await refused(
        name,
        Buffer.concat([firstLine, bytes, ...good.slice(1).map((one) => bytesOf(one))]),
      );
    await refused("gzip of all", gzipSync(fileOf(good)));
  });

  it("takes little memory as a bomb: 1 GB of zeros in 30 kB, in a frame of each kind", async () => {
    const bomb = zstdCompressSync(Buffer.alloc(1024 * mebibyte));
    const before = process.memoryUsage().rss;
    for (const kind of ["H", "T", "F", "D", "Z"]) {
      const bytes = bytesOf(frame(kind, ""), () => bomb);
      await refused(kind, Buffer.concat([firstLine, bytes]));
    }
    expect((process.memoryUsage().rss - before) / mebibyte).toBeLessThan(150);
  });
});

describe("a hostile backup during its restore", () => {
  it("is refused for invalid tables, rows, files and ends", async () => {
    const rows = (value: unknown) => withRows(frame("R", value));
    const row = { id: "ws_2", name: "two" };
    const broken: [string, Buffer][] = [
      ...["{", '{"table":1}', '{"table":"pg_class"}', '{"table":"x\\"; drop table users"}'].map(
        (text): [string, Buffer] => [text, fileOf(withFirst("T", frame("T", text)))],
      ),
      ...["", "null", "{}", "[1]", '[{"id":null}]', "\u0000", deep(100_000)].map(
        (text): [string, Buffer] => [`rows ${text.slice(0, 20)}`, fileOf(rows(text))],
      ),
      ["one row twice", fileOf(rows([row, row]))],
      ["a number too large", fileOf(rows([{ ...row, signing_version: 1e30 }]))],
      ["a text with a zero", fileOf(rows('[{"id": "a\\u0000b", "name": "x"}]'))],
      ...[
        { name: "../x", bytes: 3 },
        { name: 1, bytes: 3 },
        { name: "a", bytes: -1 },
      ].map((value): [string, Buffer] => [
        `file ${JSON.stringify(value)}`,
        fileOf(withFirst("F", frame("F", value))),
      ]),
      ["a smaller file", fileOf(withFirst("F", frame("F", { name: "a.png", bytes: 4 })))],
      ["a larger file", fileOf(withFirst("F", frame("F", { name: "a.png", bytes: 2 })))],
      ["rows first", fileOf([good[0]!, ...good.filter(({ kind }) => kind === "R")])],
      ["two headers", fileOf([good[0]!, ...good])],
      ["a table twice", fileOf([...good, ...good.slice(1)])],
      ...[null, 1, [], {}, { ...end, tables: null }, { ...end, tables: { users: "1" } }].map(
        (value): [string, Buffer] => [`end ${JSON.stringify(value)}`, fileOf(good, value)],
      ),
      ["fewer rows than it says", fileOf(withRows())],
    ];
    // Each refusal makes the schema and rolls it back. The short form tries every third: a sample of the tables, rows, files,
    // orders and ends.
    const tried = broken.filter((_, at) => shortOrLong(at % 3 === 0, true));
    for (const [name, content] of tried) await refused(name, content);
  });

  it("is refused if a valid frame was replaced by another one under the old digest", async () => {
    const other = withFirst("D", { kind: "D", payload: Buffer.from("abd") });
    await refused("another file", fileOf(other, end, good));
  });

  it("is refused or restored as valid if any bytes are changed and the digest is corrected", async () => {
    let seed = 20_261_124;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let run = 0; run < shortOrLong(4, 200); run += 1) {
      const parts = good.map((one) => ({ ...one, payload: Buffer.from(one.payload) }));
      for (let edits = 0; edits <= random(3); edits += 1) {
        const at = parts[random(parts.length)]!;
        if (at.payload.length > 0) at.payload[random(at.payload.length)] = random(256);
      }
      const error = await restore(fileOf(parts)).then(
        () => undefined,
        (reason: unknown) => reason as Error,
      );
      // A changed byte of a name or a file may still be valid: then the file is a valid backup of other content.
      if (error === undefined)
        await target.query("drop schema public cascade; create schema public");
      // oxlint-disable-next-line vitest/no-conditional-expect -- whether it is one is what the bytes say
      else expect(`${error.name}: ${error.message}`).toMatch(/^BackupError: /);
      for (const name of readdirSync(join(directory, "files"))) await files.remove(name);
    }
  });

  it("is restored if its frames are unchanged, over the leftovers of an interrupted restore", async () => {
    const half = { mediaType: "image/png", bytesMax: 1 };
    await files.put("a.png", Buffer.from("x"), half);
    await expect(restore(fileOf(good))).resolves.toMatchObject({ files: 1 });
    expect(String(await buffer((await files.open("a.png"))!.stream))).toBe("abc");
  });
});

it("a path that is not a file is reported before the database is opened", async () => {
  const folder = join(directory, "folder");
  mkdirSync(folder);
  writeFileSync(join(folder, "file"), "");
  const environment = { TOLLGATE_DATA_DIR: join(directory, "nowhere"), DATABASE_URL: "" };
  expect(await tollgateHere(["restore", folder], environment)).toMatchObject({
    code: 2,
    stderr: `tollgate: ${folder} is a directory, and no backup\n`,
  });
  const below = join(folder, "file/below");
  expect(await tollgateHere(["restore", below], environment)).toMatchObject({
    code: 2,
    stderr: `tollgate: ${below} cannot be read (ENOTDIR)\n`,
  });
});
