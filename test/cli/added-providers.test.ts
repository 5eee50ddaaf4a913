/** Changes over the management API apply on a gateway that could not read the database when it was notified. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openAddedProviders } from "../../src/cli/added-providers.ts";
import { systemClock } from "../../src/base/clock.ts";
import { openCatalog } from "../../src/cli/catalog.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { openVendorModels } from "../../src/cli/vendor-models.ts";
import { addCatalogList, setPause, type Database } from "../../src/storage/index.ts";
import { changeRow } from "../../src/tenancy/index.ts";
import { deriveSecrets } from "../../src/tenancy/secrets.ts";
import { eventually } from "../support/patience.ts";
import { describeDatabase, silentLog, temporaryDirectory } from "../support/postgres.ts";

/** A database whose reads fail as long as `isBusy`. */
function busyDatabase(database: Database) {
  const busy = { isBusy: false };
  const query: Database["query"] = (...statement) =>
    busy.isBusy
      ? Promise.reject(new Error("timeout exceeded when trying to connect"))
      : database.query(...statement);
  return Object.assign(busy, { database: { ...database, query } });
}

describeDatabase("added providers", (open) => {
  it("are read again after a failed read, without a second notification", async () => {
    const database = await open();
    const busy = busyDatabase(database);
    const added = openAddedProviders({ log: silentLog, clock: systemClock, allowPrivate: false });
    await added.follow(busy.database, deriveSecrets(Buffer.alloc(32, 1)));
    try {
      // A listener that connects also triggers a read.
      await eventually(() => database.signals.healthy(), "the listener is there");
      busy.isBusy = true;
      const now = new Date();
      const until = new Date(now.getTime() + 3_600_000);
      await changeRow(busy.database, "providers", async (tx) => {
        await setPause(tx, { id: "acme", until, now });
        return { id: "acme" };
      });
      expect(added.current().paused.size).toBe(0);
      busy.isBusy = false;
      const { paused } = await eventually(
        () => added.current().paused.size > 0 && added.current(),
        "the pause is in force",
      );
      expect([...paused]).toEqual([["acme", until.getTime()]]);
    } finally {
      added.close();
    }
  });
});

describeDatabase("remarks on the prices of the file", (open) => {
  it("are logged once, and not again with each change of an added provider", async () => {
    const database = await open();
    const configPath = join(temporaryDirectory(), "tollgate.yaml");
    writeFileSync(configPath, 'prices: { nobody/has-it: { input: "1", output: "2" } }\n');
    const environment = readEnvironment({ TOLLGATE_CONFIG: configPath });
    const remarks: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, line: string) => void remarks.push(line) };
    const catalog = await openCatalog({ environment, sandboxUrl: undefined, log });
    try {
      await catalog.follow(database, deriveSecrets(Buffer.alloc(32, 1)));
      catalog.current();
      const now = new Date();
      const until = new Date(now.getTime() + 3_600_000);
      await changeRow(database, "providers", async (tx) => {
        await setPause(tx, { id: "p", until, now });
        return { id: "p" };
      });
      expect(catalog.current().paused?.has("p")).toBe(true);
      expect(remarks).toEqual([expect.stringMatching(/^prices .* fit no model/)]);
    } finally {
      catalog.close();
    }
  });
});

describeDatabase("the list of models", (open) => {
  it("is read again after a failed read, without a second notification", async () => {
    const database = await open();
    const busy = busyDatabase(database);
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, line: string) => void warnings.push(line) };
    const models = await openVendorModels({ variables: { OPENAI_API_KEY: "sk-1" }, log });
    await models.follow(busy.database);
    try {
      await eventually(() => database.signals.healthy(), "the listener is there");
      const shipped = models.current();
      busy.isBusy = true;
      const list = JSON.stringify({ openai: { id: "openai", models: {} } });
      await database.transaction((tx) =>
        addCatalogList(tx, database.signals, {
          createdAt: new Date(),
          source: "test",
          models: 0,
          list,
        }),
      );
      await eventually(() => warnings.length > 0, "a failed read");
      busy.isBusy = false;
      await eventually(() => models.current() !== shipped, "the new list is in force");
    } finally {
      models.close();
    }
  });
});
