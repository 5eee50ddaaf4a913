/** The number of stored model lists is limited, and the list in force is never dropped. docs/models.md. */
import { expect, it } from "vitest";
import {
  addCatalogList,
  catalogList,
  catalogLists,
  catalogVersion,
  useCatalogList,
  type Database,
} from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { eventually } from "../support/patience.ts";

const add = (database: Database, source: string): Promise<number> =>
  database.transaction((tx) =>
    addCatalogList(tx, database.signals, {
      createdAt: new Date(),
      source,
      models: 1,
      list: `list of ${source}`,
    }),
  );
const use = (database: Database, version: number): Promise<boolean> =>
  database.transaction((tx) => useCatalogList(tx, database.signals, version));
const versions = async (database: Database): Promise<number[]> =>
  (await catalogLists(database)).map(({ version }) => version);
const upTo = (high: number, low: number): number[] =>
  Array.from({ length: high - low + 1 }, (_, place) => high - place);

describeDatabase("lists of models", (open) => {
  it("the newest hundred are kept, and so are the list in force and the one in force before it", async () => {
    const database = await open();
    for (let count = 1; count <= 103; count += 1) await add(database, `${count}`);
    expect(await versions(database)).toEqual(upTo(103, 4));
    expect(await use(database, 3)).toBe(false);
    expect(await catalogVersion(database)).toBe(103);
    expect(await use(database, 4)).toBe(true);
    // The list that the new one replaces can be restored, until the next one comes.
    expect(await add(database, "next")).toBe(104);
    expect(await versions(database)).toEqual(upTo(104, 4));
    expect(await use(database, 4)).toBe(true);
    expect(await catalogList(database)).toBe("list of 4");
    expect(await use(database, 0)).toBe(true);
    expect(await add(database, "last")).toBe(105);
    expect(await versions(database)).toEqual(upTo(105, 6));
  });

  it("a list that is restored while another is added stays", async () => {
    const database = await open();
    for (let count = 1; count <= 100; count += 1) await add(database, `${count}`);
    const isUsed = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const used = database.transaction(async (tx) => {
      await useCatalogList(tx, database.signals, 1);
      isUsed.resolve();
      await mayCommit.promise;
    });
    await isUsed.promise;
    const added = add(database, "meanwhile");
    await eventually(async () => {
      const sql =
        "select 1 from pg_locks where not granted and relation = 'catalog_lists'::regclass";
      return (await database.query(sql)).length > 0;
    }, "the one that is added waits");
    mayCommit.resolve();
    await used;
    expect(await added).toBe(101);
    expect((await versions(database)).at(-1)).toBe(1);
    expect(await use(database, 1)).toBe(true);
    expect(await catalogList(database)).toBe("list of 1");
  });
});
