/** A database with the collation or encoding of a language: refused if it cannot work, and reported if the database exists already. */
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { migrate, openDatabase, readTextOrder, type Database } from "../../src/storage/index.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { startTollgate, tollgate } from "../support/process.ts";

const icu = (locale: string): string => `locale_provider icu icu_locale '${locale}'`;
const opened: Database[] = [];
let server: Client;
let url: (database: string) => string;

beforeAll(async () => {
  const postgres = await sharedPostgres();
  server = new Client({ connectionString: await postgres.createDatabase() });
  await server.connect();
  url = (database) => new URL(`/${database}`, postgres.url).href;
});
afterAll(async () => {
  for (const database of opened) await database.close();
  await server.end();
});

async function openWithOrder(name: string, how: string): Promise<Database> {
  await server.query(`create database order_${name} template template0 ${how}`);
  const database = await openDatabase({ url: url(`order_${name}`), log: silentLog });
  opened.push(database);
  return database;
}

/** A database with our schema whose collation and encoding are changed directly, as if it were older than the check. */
async function withCzechLatin(): Promise<string> {
  const made = new URL(await (await sharedPostgres()).createMigrated());
  await server.query(
    "update pg_database set datlocprovider = 'i', datlocale = 'cs', encoding = 8 where datname = $1",
    [made.pathname.slice(1)],
  );
  return made.href;
}

describe("the order of text in a database", () => {
  it.each([
    ["bytes", "locale_provider libc lc_collate 'C'", { locale: "C", isBytes: true }],
    ["own", "locale_provider builtin builtin_locale 'C.UTF-8'", { isBytes: true }],
    ["english", icu("en-US"), { locale: "en-US", isBytes: false }],
    ["german", icu("de"), { locale: "de", isBytes: false }],
  ])("%s keeps ids in the order of time", async (name, how, expected) => {
    const database = await openWithOrder(name, how);
    expect(await readTextOrder(database)).toEqual({
      keepsTime: true,
      locale: expect.any(String),
      ...expected,
    });
    expect((await migrate(database)).applied).toContain("baseline");
  });

  it.each([
    ["czech", "cs", "ch after h"],
    ["estonian", "et", "z before t"],
    ["lithuanian", "lt", "y before k"],
  ])(
    "%s does not keep ids in the order of time, so no schema is made (%s, %s)",
    async (name, locale) => {
      const database = await openWithOrder(name, icu(locale));
      expect(await readTextOrder(database)).toEqual({ keepsTime: false, locale, isBytes: false });
      await expect(migrate(database)).rejects.toMatchObject({
        name: "SchemaError",
        problem: expect.stringContaining(`(${locale})`),
        fix: expect.stringContaining("LC_COLLATE 'C'"),
      });
      expect(await database.query("select to_regclass('workspaces') as made")).toEqual([
        { made: null },
      ]);
    },
  );

  it("a database whose encoding lacks callers' characters is refused in the same way", async () => {
    const database = await openWithOrder(
      "latin",
      "encoding 'LATIN1' locale_provider libc locale 'C'",
    );
    await expect(migrate(database)).rejects.toMatchObject({
      name: "SchemaError",
      problem: expect.stringContaining("LATIN1"),
      fix: expect.stringContaining("ENCODING 'UTF8'"),
    });
    expect(await database.query("select to_regclass('workspaces') as made")).toEqual([
      { made: null },
    ]);
  });

  it("is reported by doctor and at each start if the schema exists already", async () => {
    const environment = {
      DATABASE_URL: await withCzechLatin(),
      TOLLGATE_DATA_DIR: temporaryDirectory(),
    };
    const { code, stdout } = await tollgate(["doctor"], environment);
    expect(stdout).toMatch(/^FAILED +text order: .*\(cs\)/m);
    expect(stdout).toMatch(/^FAILED +encoding: .*LATIN1/m);
    expect(code).toBe(1);
    const gateway = startTollgate(["serve"], { ...environment, PORT: "0" }, "pipe");
    onTestFinished(() => void gateway.kill());
    let output = "";
    for (const stream of [gateway.stdout!, gateway.stderr!])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    await expect.poll(() => output).toContain("not in the order of their time");
    await expect.poll(() => output).toContain("has the encoding LATIN1");
  });
});
