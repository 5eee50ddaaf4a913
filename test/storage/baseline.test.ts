/**
 * The baseline makes the same schema, object by object, as the migrations that it replaces, except functions that a later
 * migration defines completely. A database with all of these migrations stays as it is. One that lacks some is refused
 * unchanged. A start that dies in the middle leaves nothing behind.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { baselineName, olderSchema, replaced } from "../../src/storage/baseline.ts";
import type * as migrations from "../../src/storage/migrate.ts";
import {
  applyMigrations,
  knownMigrations,
  migrate,
  openDatabase,
  prepareMigrations,
  schemaState,
  type Database,
} from "../../src/storage/index.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";
import { isInHistory, unpackTree } from "../upgrade/previous.ts";
import { catalogueOf, digestsOf, type Catalogue } from "./catalogue.ts";

const opened: Database[] = [];
afterAll(() => Promise.all(opened.map((database) => database.close())));

/** An empty database. */
async function openEmpty(url?: string): Promise<Database> {
  const place = url ?? (await (await sharedPostgres()).createDatabase());
  const database = await openDatabase({ url: place, log: silentLog });
  opened.push(database);
  return database;
}

type Migrate = Pick<typeof migrations, "applyMigrations" | "migrate" | "prepareMigrations">;

/** A database that a version has migrated up to the migration of this name. */
async function openAt(last: string, { prepareMigrations, applyMigrations }: Migrate) {
  const database = await openEmpty();
  const wanted = new Set(replaced.map(({ name }) => name).filter((name) => name <= last));
  await database.transaction(async (tx) => {
    await prepareMigrations(tx);
    await applyMigrations(tx, wanted);
  });
  return database;
}

const functionsIn = (place: string): string[] => {
  const folder = new URL(`../../src/storage/${place}/`, import.meta.url);
  const texts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));
  return Array.from(
    texts.join("\n").matchAll(/^create (?:or replace )?function (\w+)/gm),
    ([, name]) => `${name}()`,
  );
};
const inBaseline = new Set(functionsIn("baseline"));
const later = new Set(functionsIn("migrations").filter((name) => !inBaseline.has(name)));

/** A schema without the objects of migrations after the baseline. */
const withoutLater = <T>(schema: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => !later.has(name)));

const recordedIn = (database: Database): Promise<object[]> =>
  database.query("select name, checksum, compatible_from from schema_migrations order by name");

/** The schema without the table of migrations, which exists before the baseline. */
async function schemaOf(database: Database): Promise<Catalogue> {
  const { schema_migrations: _table, ...rest } = await catalogueOf(database);
  return rest;
}

const last = replaced.at(-1)!.name;
const now: Migrate = { applyMigrations, migrate, prepareMigrations };
const after = knownMigrations()
  .map(({ name }) => name)
  .filter((name) => name > last);

it("the baseline makes the schema that was recorded for the migrations that it replaces", async () => {
  const url = new URL("baseline.json", import.meta.url);
  const recorded = JSON.parse(readFileSync(url, "utf8")) as Record<string, string>;
  const database = await openAt(last, now);
  expect(digestsOf(await schemaOf(database))).toEqual(withoutLater(recorded));
  expect(await recordedIn(database)).toEqual(
    replaced.map((one) => ({ ...one, compatible_from: null })),
  );
  expect(await migrate(database)).toEqual({ applied: after });
});

it("a database that lacks any one of the replaced migrations is refused", async () => {
  const database = await openEmpty(await (await sharedPostgres()).createMigrated());
  for (const { name, checksum } of replaced) {
    await database.query("delete from schema_migrations where name = $1", [name]);
    const words = `it lacks ${name}. Nothing was changed. Start Tollgate at commit ${olderSchema(new Set()).commit}`;
    await expect(migrate(database)).rejects.toThrow(words);
    await expect(schemaState(database)).rejects.toThrow(words);
    await database.query("insert into schema_migrations (name, checksum) values ($1, $2)", [
      name,
      checksum,
    ]);
  }
  expect(await migrate(database)).toEqual({ applied: [] });
});

it("an empty database lacks the baseline and all later migrations, and a check of its state changes nothing", async () => {
  const database = await openEmpty();
  expect(await schemaState(database)).toMatchObject({ missing: [baselineName, ...after] });
  expect(await schemaOf(database)).toEqual(await schemaOf(await openEmpty()));
});

it("a process killed in the middle of the baseline leaves nothing behind, and the next one completes it", async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const database = await openEmpty(url);
  const before = await catalogueOf(database);
  const server = await database.transaction(async (tx) => {
    // On a slow machine a process takes longer to start than the three seconds that a transaction may idle.
    await tx.query("set local idle_in_transaction_session_timeout = 0");
    // The name is taken for other transactions: one that creates the same table waits.
    await tx.query("create table usage_folds (workspace_id text)");
    const program = new URL("../embedded/holder-child.ts", import.meta.url).pathname;
    const started = spawn(process.execPath, [program, "server", url], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    // The process prints nothing until it has the schema, or has failed.
    let output = "";
    started.stdout.on("data", (bytes: Buffer) => (output += bytes.toString()));
    const waiting = await eventually(async () => {
      expect(output).toBe("");
      const [row] = await database.query<{ pid: number }>(
        `select pid from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%create table usage_folds%'`,
      );
      return row?.pid;
    }, "a process in the middle of the baseline").finally(() => started.kill("SIGKILL"));
    if (started.exitCode === null && started.signalCode === null) await once(started, "exit");
    await tx.query("drop table usage_folds");
    return waiting;
  });
  await eventually(async () => {
    const rows = await database.query("select from pg_stat_activity where pid = $1", [server]);
    return rows.length === 0;
  }, "the end of its transaction");
  expect(await catalogueOf(database)).toEqual(before);
  expect(await migrate(database)).toEqual({ applied: [baselineName, ...after] });
});

const { commit } = olderSchema(new Set());

describe.skipIf(!isInHistory(commit))("the baseline beside the original migration files", () => {
  /** The version that the refusal names. */
  let older: Migrate;
  beforeAll(async () => {
    const file = join(unpackTree(commit, "src/storage"), "src/storage/migrate.ts");
    older = (await import(/* @vite-ignore */ file)) as Migrate;
  });

  it("makes the same schema as they do, before and after the later migrations", async () => {
    const [theirs, ours] = [await openAt(last, older), await openAt(last, now)];
    expect(await catalogueOf(ours)).toEqual(withoutLater(await catalogueOf(theirs)));
    expect(await recordedIn(ours)).toEqual(await recordedIn(theirs));
    expect(await migrate(theirs)).toEqual({ applied: after });
    expect(await migrate(ours)).toEqual({ applied: after });
    expect(await catalogueOf(ours)).toEqual(await catalogueOf(theirs));
  });

  it("a database at 0040 is refused unchanged, and the version that the error names upgrades it", async () => {
    const database = await openAt("0040_thumbnails.sql", older);
    await database.query("alter table schema_migrations drop column compatible_from");
    const before = [
      await catalogueOf(database),
      await database.query("select * from schema_migrations order by name"),
    ];
    const words =
      /too old for this version: it lacks 0041_request_tags\.sql\. Nothing was changed\. Start Tollgate at commit \w{7} on it once/;
    await expect(migrate(database)).rejects.toThrow(words);
    await expect(schemaState(database)).rejects.toThrow(words);
    expect([
      await catalogueOf(database),
      await database.query("select * from schema_migrations order by name"),
    ]).toEqual(before);
    await older.migrate(database);
    await migrate(database);
    expect(await schemaState(database)).toMatchObject({ missing: [] });
  });

  it("a database at 0041 with a changed checksum is refused unchanged", async () => {
    const database = await openAt(last, older);
    await database.query("update schema_migrations set checksum = 'x' where name = $1", [last]);
    const before = await catalogueOf(database);
    await expect(migrate(database)).rejects.toThrow(/0041_request_tags\.sql is not the one/);
    expect(await catalogueOf(database)).toEqual(before);
  });

  it("an earlier version and this one can start on an empty database at once, and leave the same schema", async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const places = [await openEmpty(url), await openEmpty(url)] as const;
    const done = await Promise.all([migrate(places[0]), older.migrate(places[1])]);
    expect(done.filter(({ applied }) => applied.includes(after[0]!))).toHaveLength(1);
    const fresh = await openEmpty();
    await migrate(fresh);
    expect(await older.migrate(fresh)).toEqual({ applied: [] });
    expect(await catalogueOf(fresh)).toEqual(await catalogueOf(places[0]));
    expect(await recordedIn(fresh)).toEqual(await recordedIn(places[0]));
  });
});
