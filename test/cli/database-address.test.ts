/** DATABASE_URL as people get it wrong: a password that is no part of a URL, a user who owns nothing, a standby. */
import { expect, it } from "vitest";
import { readEnvironment, UsageError } from "../../src/cli/environment.ts";
import { migrate, openDatabase } from "../../src/storage/index.ts";
import { tollgateHere } from "../support/command.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../support/postgres.ts";

it.each(["p@ss/hunter2", "hunter2/x", "hunter2#x", "hunter2?x"])(
  "the password %s as it is: how it is written, without a part of it",
  (password) => {
    const read = (): unknown =>
      readEnvironment({ DATABASE_URL: `postgres://tollgate:${password}@db.internal/tollgate` });
    expect(read).toThrow(UsageError);
    expect(read).toThrow(/^DATABASE_URL is not a URL such as .*are written as %2F \(\/\)/);
    expect(read).not.toThrow(/hunter2/);
  },
);

/** What `migrate` says, then the doctor's finding of the schema. */
async function told(url: string): Promise<{ readonly start: unknown; readonly doctor: unknown }> {
  const database = await openDatabase({ url, log: silentLog });
  const start = await migrate(database).then(
    () => "migrated",
    (error: unknown) => error,
  );
  await database.close();
  const environment = { DATABASE_URL: url, TOLLGATE_DATA_DIR: temporaryDirectory() };
  const { stdout } = await tollgateHere(["doctor", "--json"], environment);
  const { findings } = JSON.parse(stdout) as { findings: { readonly check: string }[] };
  return { start, doctor: findings.find(({ check }) => check === "schema") };
}

it("a user who may make no tables is told to own the database, by the start and by doctor; then it starts", async () => {
  const url = new URL(await (await sharedPostgres()).createDatabase());
  const name = url.pathname.slice(1);
  const owner = await openDatabase({ url: url.href, log: silentLog });
  await owner.query(`create role "${name}" login password 'guest'`);
  // As every server from PostgreSQL 15 on has it by itself.
  await owner.query("revoke create on schema public from public");
  const guest = new URL(url);
  guest.username = name;
  guest.password = "guest";
  expect(await told(guest.href)).toMatchObject({
    start: {
      name: "SchemaError",
      message: expect.stringMatching(/permission denied for schema public\. .* OWNER TO/),
    },
    doctor: { status: "failed", fix: expect.stringContaining("OWNER TO") },
  });
  await owner.query(`alter database "${name}" owner to "${name}"`);
  expect(await told(guest.href)).toMatchObject({ start: "migrated", doctor: { status: "ok" } });
  await owner.close();
});

it("a server that takes no changes is told from one that does", async () => {
  const url = new URL(await (await sharedPostgres()).createDatabase());
  url.searchParams.set("options", "-c default_transaction_read_only=on");
  expect(await told(url.href)).toMatchObject({
    start: { name: "SchemaError", message: expect.stringContaining("Name the primary") },
  });
});
