/**
 * A backup under load, restored into an empty server's database, into a fresh embedded one, and over a running gateway. Files
 * that were cut or changed restore nothing.
 */
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restoreBackup } from "../../src/backup/index.ts";
import { tablesOf } from "../../src/backup/schema.ts";
import { openFileStore, type FileStore } from "../../src/files/index.ts";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { drive, newLoad } from "../faults/load.ts";
import { tollgateHere } from "../support/command.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import {
  preparedDataDir,
  sharedPostgres,
  silentLog,
  temporaryDirectory,
} from "../support/postgres.ts";
import { tollgate } from "../support/process.ts";

const text =
  '#sandbox {"reply": "a short answer", "delay_ms": 20, "usage": {"input": 100, "output": 50}}';
const directory = temporaryDirectory();
const file = join(directory, "backup.tollgate");

/**
 * The most open connections. Four are open if each call takes 20 ms. The gateway is in this process, so a busy machine slows
 * its accepting too.
 */
const openMax = 100;

let environment: Record<string, string>;
let gateway: GatewayUnderTest;
let key: string;

const environmentOf = (name: string, databaseUrl = ""): Record<string, string> => ({
  TOLLGATE_DATA_DIR: join(directory, name),
  TOLLGATE_SANDBOX: "on",
  TOLLGATE_LOG_LEVEL: "error",
  DATABASE_URL: databaseUrl,
});

/** A data directory with nothing but the master key, which operators keep apart from the backup. */
function withMasterKey(name: string, databaseUrl?: string): Record<string, string> {
  const target = environmentOf(name, databaseUrl);
  mkdirSync(target["TOLLGATE_DATA_DIR"]!, { recursive: true });
  copyFileSync(
    join(environment["TOLLGATE_DATA_DIR"]!, "master-key"),
    join(target["TOLLGATE_DATA_DIR"]!, "master-key"),
  );
  return target;
}

const openPlace = (target: Record<string, string>): Promise<Database> =>
  openDatabase({
    url: target["DATABASE_URL"],
    dataDir: target["TOLLGATE_DATA_DIR"],
    join: true,
    log: silentLog,
  });

/** The number of rows of each table. */
async function countsIn(target: Record<string, string>): Promise<Record<string, number>> {
  const database = await openPlace(target);
  const counts: Record<string, number> = {};
  for (const table of await tablesOf(database)) {
    const [row] = await database.query<{ n: bigint }>(`select count(*) as n from ${table}`, []);
    counts[table] = Number(row!.n);
  }
  await database.close();
  return counts;
}

interface BackupReport {
  readonly tables: Record<string, number>;
  readonly files: number;
}

/** Restores the backup and returns its report. In the short form a process of its own does one restore, this process the others. */
async function restored(
  target: Record<string, string>,
  { by = shortOrLong(tollgateHere, tollgate), flags = [] as readonly string[] } = {},
): Promise<BackupReport> {
  const done = await by(["restore", file, "--json", ...flags], target);
  expect(done).toMatchObject({ code: 0 });
  return JSON.parse(done.stdout) as BackupReport;
}

async function expectWhole(target: Record<string, string>, told: BackupReport): Promise<void> {
  // The restore adds a setting with its own time to the rows of the backup.
  const { settings = 0, ...rest } = told.tables;
  expect(await countsIn(target)).toEqual({ ...rest, settings: settings + 1 });
  expect(await tollgateHere(["verify"], target)).toMatchObject({
    code: 0,
    stdout: "no difference\n",
  });
  expect(readdirSync(join(target["TOLLGATE_DATA_DIR"]!, "files"))).toHaveLength(told.files);
}

beforeAll(async () => {
  environment = environmentOf("source");
  await preparedDataDir(environment["TOLLGATE_DATA_DIR"]);
  gateway = await startTestGateway({ environment, usageEveryMs: 200 });
  ({ key } = gateway);
  const make = async (): Promise<void> => {
    const task = await fetch(`${gateway.url}/v1/tasks`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        prefer: "wait=60",
      },
      body: JSON.stringify({ model: "sandbox/video-model-v1", prompt: "A boat", duration: 2 }),
    });
    const { status } = (await task.json()) as { status: string };
    if (status !== "succeeded") throw new Error(`the task is ${status}`);
  };
  await Promise.all([make(), make()]);
  const made = await tollgateHere(["keys", "create", "--name", "second"], environment);
  if (made.code !== 0) throw new Error(made.stderr);
});
afterAll(() => gateway.close());

describe("a backup taken under load", () => {
  let report: BackupReport;

  it("is written while calls go on, and none of them fails", async () => {
    const load = newLoad();
    let over = false;
    const driven = drive(
      {
        url: gateway.url,
        key,
        perSecond: shortOrLong(60, 200),
        openMax,
        model: "sandbox/chat",
        text,
        until: () => over && load.whole.size >= shortOrLong(60, 10_000),
      },
      load,
    );
    await expect.poll(() => load.whole.size).toBeGreaterThan(shortOrLong(30, 5_000));
    const before = load.whole.size;
    const done = await tollgate(["backup", file, "--json"], environment);
    expect(done).toMatchObject({ code: 0 });
    const { missing_files: missing, ...rest } = JSON.parse(done.stdout) as BackupReport & {
      readonly missing_files: number;
    };
    expect(missing).toBe(0);
    report = rest;
    expect(report.tables["ledger_entries"]).toBeGreaterThan(before);
    expect(report).toMatchObject({ files: 2, tables: { tasks: 2, api_keys: 2 } });
    over = true;
    await driven;
    expect([...load.refused, load.cut]).toEqual([0]);
  });

  it("contains neither the master key nor any key in clear text", () => {
    const bytes = readFileSync(file);
    const master = readFileSync(
      join(environment["TOLLGATE_DATA_DIR"]!, "master-key"),
      "utf8",
    ).trim();
    for (const secret of [master, key]) expect(bytes.includes(secret)).toBe(false);
    expect(bytes.includes(Buffer.from(master, "base64"))).toBe(false);
  });

  it("is restored completely into the empty database of a server", async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const target = withMasterKey("server", url);
    await restored(target, { by: tollgate });
    await expectWhole(target, report);
    // The backup's files are in its data directory. From another directory the command does not find them, and it warns.
    const elsewhere = { ...target, TOLLGATE_DATA_DIR: join(directory, "elsewhere") };
    const again = await tollgateHere(["backup", join(directory, "again"), "--json"], elsewhere);
    expect(JSON.parse(again.stdout)).toMatchObject({ files: 0, missing_files: report.files });
    expect(again.stderr).toMatch(
      /: warning: 2 files that the database names are not below .* Set TOLLGATE_DATA_DIR to/,
    );
  });

  it("is restored completely into a fresh embedded database, where the key works at once, and back again", async () => {
    const target = withMasterKey("embedded");
    await preparedDataDir(target["TOLLGATE_DATA_DIR"]);
    const other = await startTestGateway({ environment: target });
    expect(await restored(target)).toEqual(report);
    const response = await fetch(`${other.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox/chat", messages: [{ role: "user", content: "Hi" }] }),
    });
    expect(response.status).toBe(200);
    await response.text();
    const refused = await tollgateHere(["restore", file], target);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(/already holds calls, tasks, .*; --replace/);
    await other.close();
    await restored(target, { flags: ["--replace"] });
    await expectWhole(target, report);
  });

  it("does not replace a created key without --replace, even one that was never used", async () => {
    const target = withMasterKey("keys", await (await sharedPostgres()).createDatabase());
    const other = await startTestGateway({ environment: target });
    const made = await tollgateHere(["keys", "create", "--name", "handed out"], target);
    await other.close();
    const refused = await tollgateHere(["restore", file], target);
    expect({ made: made.code, restore: refused.code }).toEqual({ made: 0, restore: 1 });
    expect(refused.stderr).toMatch(/keys and settings that somebody made; --replace/);
    expect(await countsIn(target)).toMatchObject({ api_keys: 2, tasks: 0 });
  });

  it("is refused with another master key and without one, and nothing is restored", async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const target = environmentOf("other-key", url);
    const another = { ...target, TOLLGATE_MASTER_KEY: Buffer.alloc(32, 1).toString("base64") };
    for (const [given, why] of [
      [another, "The master key is not the one"],
      [target, "This database was set up with a master key, and none is given here"],
    ] as const) {
      const refused = await tollgateHere(["restore", file], given);
      expect(refused.code).toBe(2);
      const said = `tollgate: The backup does not open here, and nothing was restored. ${why}`;
      expect(refused.stderr.split("\n").some((line) => line.startsWith(said))).toBe(true);
    }
    expect(existsSync(join(target["TOLLGATE_DATA_DIR"]!, "master-key"))).toBe(false);
    expect(await countsIn(target)).toEqual({});
    expect(readdirSync(join(target["TOLLGATE_DATA_DIR"]!, "files"))).toEqual([]);
  });

  it("is refused if its file was cut, changed or lengthened anywhere, and nothing is restored", async () => {
    const target = withMasterKey("broken", await (await sharedPostgres()).createDatabase());
    const bytes = readFileSync(file);
    const broken: [string, Buffer, RegExp][] = [
      ["empty", Buffer.alloc(0), /not a backup/],
      ["longer", Buffer.concat([bytes, Buffer.from("x")]), /changed or is damaged/],
      ["not one", Buffer.from("PK\u0003\u0004".repeat(100)), /not a backup/],
    ];
    const places = shortOrLong(4, 60);
    for (let place = 1; place <= places; place += 1) {
      const at = 18 + Math.floor(((bytes.length - 20) * place) / (places + 1));
      // Each refusal makes the schema and rolls it back. In the short form every second place is cut, the others are changed.
      const isCut = isLong || place % 2 === 1;
      if (isCut) broken.push([`cut at ${at}`, bytes.subarray(0, at), /cut off/]);
      if (isCut && !isLong) continue;
      const changed = Buffer.from(bytes);
      changed[at] = changed[at]! ^ 0x10;
      // If the changed byte was the kind of a frame, the error names a wrong order.
      broken.push([`changed at ${at}`, changed, /backup was changed|cut off/]);
    }
    const database = await openPlace(target);
    const store = await openFileStore({ kind: "local" }, target["TOLLGATE_DATA_DIR"]!);
    // A store that is slow to begin. A restore that gave up before the store read the stream once ended the process.
    const files: FileStore = {
      ...store,
      put: async (...file) => {
        for (let turns = 0; turns < 50; turns += 1) await nextTurn();
        return store.put(...file);
      },
    };
    for (const [name, content, message] of broken) {
      const path = join(directory, "broken.tollgate");
      writeFileSync(path, content);
      const restoring = restoreBackup({
        database,
        files,
        source: createReadStream(path),
        replace: false,
        check: () => Promise.resolve(),
        progress: () => undefined,
      });
      const failure = await restoring.then(
        () => "restored",
        (error: unknown) => String(error),
      );
      const left = [
        ...(await tablesOf(database)),
        ...readdirSync(join(target["TOLLGATE_DATA_DIR"]!, "files")),
      ];
      expect(`${name}: ${message.test(failure) ? "refused" : failure} ${left.join()}`).toBe(
        `${name}: refused `,
      );
    }
    await database.close();
  });

  it("is not made where no gateway has run, and no database is created", async () => {
    const target = environmentOf("never");
    const refused = await tollgateHere(["backup", join(directory, "never.backup")], target);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toMatch(/no gateway has run on the data directory/);
    expect(existsSync(join(target["TOLLGATE_DATA_DIR"]!, "database"))).toBe(false);
  });

  it.each([
    [
      "in a directory that is missing",
      "no-such-folder/b",
      /^tollgate: there is no directory .*no-such-folder; make it, or/,
    ],
    ["below a file", "plain/b", /^tollgate: .*plain is no directory; name another file\n$/],
    [
      "that is a directory",
      "folder/",
      /folder\/ is a directory; name the file in it, such as .*folder\/tollgate\.backup\n$/,
    ],
    [
      "that is a device",
      "/dev/null",
      /^tollgate: \/dev\/null is no file; name one, or - for standard output\n$/,
    ],
  ])(
    "is refused for a place %s in one line, before the database is asked",
    async (_what, name, line) => {
      mkdirSync(join(directory, "folder"), { recursive: true });
      writeFileSync(join(directory, "plain"), "");
      const unreachable = { ...environment, DATABASE_URL: "postgres://tollgate@127.0.0.1:9/books" };
      const path = name.startsWith("/") ? name : join(directory, name);
      const refused = await tollgateHere(["backup", path], unreachable);
      expect(refused).toMatchObject({ code: 2, stdout: "" });
      expect(refused.stderr).toMatch(line);
      expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
    },
  );

  it.skipIf(process.platform !== "linux")(
    "leaves no file if it is interrupted, and reports a full disk in one line",
    async () => {
      const path = join(directory, "full.backup");
      symlinkSync("/dev/full", `${path}.part`);
      const refused = await tollgateHere(["backup", path], environment);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toMatch(
        /^tollgate: .*full\.backup could not be written \(ENOSPC\); [^\n]*\n$/,
      );
      expect(readdirSync(directory).filter((name) => name.startsWith("full"))).toEqual([]);
    },
  );

  it("is reported as missing if its file cannot be found", async () => {
    const path = join(directory, "no-such-folder/backup.tollgate");
    const missing = await tollgateHere(["restore", path], environment);
    expect(missing).toMatchObject({ code: 2, stderr: `tollgate: there is no file ${path}\n` });
  });
});
