/** Changes over the management API apply on a gateway that could not read the database when it was notified. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openAddedProviders } from "../../src/cli/added-providers.ts";
import { systemClock } from "../../src/base/clock.ts";
import { formatUsd } from "../../src/base/money.ts";
import type { TextModel } from "../../src/catalog/index.ts";
import { openCatalog } from "../../src/cli/catalog.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { openVendorModels } from "../../src/cli/vendor-models.ts";
import { addCatalogList, setPause, type Database } from "../../src/storage/index.ts";
import { changeRow } from "../../src/tenancy/index.ts";
import { deriveSecrets } from "../support/secrets.ts";
import { eventually } from "../support/patience.ts";
import { manualClock } from "../support/manual-clock.ts";
import { describeDatabase, silentLog, temporaryDirectory } from "../support/postgres.ts";

const dated = `
providers: [{ id: p, dialect: openai-compatible, base_url: https://p.example/v1, api_key: none }]
models:
  - id: a/b
    kind: text
    context_length: 1000
    max_output_tokens: 100
    offers:
      - provider: p
        protocol: chat
        upstream_model: b
        price: { input: "1", output: "2" }
        later_prices: [{ from: 2027-01-01, price: { input: "3", output: "4" } }]
`;

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

describeDatabase("the catalogue of a gateway whose own clock is ahead", (open) => {
  it("BILL: has the prices and pauses of the clock that all gateways share", async () => {
    const database = await open();
    const directory = temporaryDirectory();
    const configPath = join(directory, "tollgate.yaml");
    writeFileSync(configPath, dated);
    const sharedClock = manualClock(Date.parse("2026-12-31T00:00:00Z"));
    const ahead = manualClock(Date.parse("2027-01-02T00:00:00Z"));
    const environment = readEnvironment({ TOLLGATE_CONFIG: configPath });
    const given = { environment, sandboxUrl: undefined, log: silentLog };
    const catalog = await openCatalog({ ...given, clock: ahead });
    const now = new Date(sharedClock.now());
    const until = new Date(now.getTime() + 3_600_000);
    await setPause(database, { id: "p", until, now });
    try {
      await catalog.follow(database, deriveSecrets(Buffer.alloc(32, 1)), sharedClock);
      const input = (): string => {
        const [offer] = (catalog.current().models.get("a/b") as TextModel).offers;
        return formatUsd(offer!.price.input);
      };
      expect([input(), catalog.current().paused?.has("p")]).toEqual(["1", true]);
      sharedClock.advance(24 * 3_600_000);
      expect(input()).toBe("3");
    } finally {
      catalog.close();
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
      await catalog.follow(database, deriveSecrets(Buffer.alloc(32, 1)), systemClock);
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
  it("T73: is in force here when its change is confirmed, however long the read takes", async () => {
    const database = await open();
    const query: Database["query"] = async (...statement) => {
      await database.query("select pg_sleep(0.2)");
      return database.query(...statement);
    };
    const models = await openVendorModels({
      variables: { OPENAI_API_KEY: "sk-1" },
      log: silentLog,
    });
    await models.follow({ ...database, query });
    try {
      await eventually(() => database.signals.healthy(), "the listener is there");
      const shipped = models.current();
      await database.transaction((tx) =>
        addCatalogList(tx, database.signals, {
          createdAt: new Date(),
          source: "test",
          models: 0,
          list: JSON.stringify({ openai: { id: "openai", models: {} } }),
        }),
      );
      await database.signals.confirmedEverywhere();
      expect(models.current()).not.toBe(shipped);
    } finally {
      models.close();
    }
  });

  it("an unreadable one changes nothing, also at a reload", async () => {
    const database = await open();
    const variables = { OPENAI_API_KEY: "sk-1" };
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, line: string) => void warnings.push(line) };
    const models = await openVendorModels({ variables, log });
    try {
      const shipped = models.current().models.size;
      await database.transaction((tx) =>
        addCatalogList(tx, database.signals, {
          createdAt: new Date(),
          source: "a newer version",
          models: 1,
          list: '{"vendor":"openai", in another form}',
        }),
      );
      await models.follow(database);
      expect(warnings).toEqual([expect.stringMatching(/could not be read/)]);
      await models.take(variables);
      expect(models.current().models.size).toBe(shipped);
    } finally {
      models.close();
    }
  });

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
