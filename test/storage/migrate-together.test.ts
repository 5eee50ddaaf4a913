/** Several gateways that start at once on a new database. */
import { expect, it } from "vitest";
import { replaced } from "../../src/storage/baseline.ts";
import { knownMigrations, migrate, openDatabase } from "../../src/storage/index.ts";
import { startHolder } from "../embedded/holder.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";

it("four processes that migrate one database together make one schema, and apply each migration once", async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const starters = [1, 2, 3, 4].map(() => startHolder("server", url));
  for (const starter of starters) await starter.said(/^ready/).toBeDefined();
  const applied = starters.map(({ lines }) => Number(lines[0]!.split(" ")[1]));
  const database = await openDatabase({ url, log: silentLog });
  const rows = await database.query<{ name: string }>(
    "select name from schema_migrations order by name",
    [],
  );
  expect(rows.map(({ name }) => name)).toEqual(knownMigrations().map(({ name }) => name));
  // The baseline counts once for all migrations that it replaces.
  const steps = 1 + rows.length - replaced.length;
  expect(applied.sort((a, b) => a - b)).toEqual([0, 0, 0, steps]);
  expect(await migrate(database)).toEqual({ applied: [] });
  await database.close();
});
