/** The table of kept files and its sweep, on both databases. Rows STORE-02, STORE-05; trap T86. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { beforeAll, beforeEach, expect, it } from "vitest";
import {
  findFile,
  openFileStore,
  recordFile,
  sweepFiles,
  type FileRow,
  type FileStore,
} from "../../src/files/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase, temporaryDirectory } from "../support/postgres.ts";

const now = new Date("2026-11-20T12:00:00.000Z");
const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);

function fileRow(name: string, changes: Partial<FileRow> = {}): FileRow {
  return {
    name,
    workspaceId: "ws_1",
    taskId: "task_1",
    purpose: "result",
    mediaType: "video/mp4",
    bytes: 4,
    createdAt: now,
    expiresAt: later(60),
    ...changes,
  };
}

describeDatabase("kept files", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  beforeEach(() => database.query("delete from files"));

  it("STORE-05: are found until they expire, to the millisecond", async () => {
    const row = fileRow("a.mp4", { bytes: 5_000_000_000 });
    await recordFile(database, row);
    expect(await findFile(database, "a.mp4", new Date(later(60).getTime() - 1))).toEqual(row);
    expect(await findFile(database, "a.mp4", later(60))).toBeUndefined();
    expect(await findFile(database, "b.mp4", now)).toBeUndefined();
  });

  it("take a new size and expiry when they are recorded again", async () => {
    await recordFile(database, fileRow("a.mp4", { bytes: 0, expiresAt: later(10) }));
    await recordFile(database, fileRow("a.mp4", { bytes: 7, expiresAt: later(900) }));
    expect(await findFile(database, "a.mp4", later(899))).toMatchObject({ bytes: 7 });
  });

  it("STORE-02: are swept from table and storage once expired, and only then", async () => {
    const { store, names } = await stored(["old.mp4", "new.mp4"]);
    await recordFile(database, fileRow("old.mp4", { expiresAt: later(-1) }));
    await recordFile(database, fileRow("new.mp4"));
    await recordFile(database, fileRow("never-written.mp4", { expiresAt: later(-1) }));
    expect(await sweepFiles(database, store, now)).toEqual({ removed: 2, failed: 0 });
    expect(names()).toEqual(["new.mp4"]);
    expect(await database.query("select name from files")).toEqual([{ name: "new.mp4" }]);
  });

  it("T86: are swept in batches of a hundred, by three sweepers at once", async () => {
    const { store } = await stored([]);
    await expiredRows(database, 1000);
    const largest = { rows: 0, removing: 0 };
    const counting = watched(database, store, largest);
    const swept = await Promise.all(
      [1, 2, 3].map(() => sweepFiles(counting.database, counting.store, now)),
    );
    expect(swept.reduce((sum, { removed }) => sum + removed, 0)).toBe(1000);
    expect(swept.every(({ failed }) => failed === 0)).toBe(true);
    expect(await database.query("select name from files")).toEqual([]);
    expect(largest.rows).toBe(100);
    expect(largest.removing).toBeLessThanOrEqual(3 * 8);
  });

  it("stay in the table if they cannot be removed, without delaying the others", async () => {
    const { store } = await stored([]);
    await expiredRows(database, 250);
    const broken: FileStore = {
      ...store,
      remove: (name) =>
        name.endsWith("7.mp4") ? Promise.reject(new Error("refused")) : store.remove(name),
    };
    expect(await sweepFiles(database, broken, now)).toMatchObject({
      removed: 225,
      failed: 25,
      error: expect.any(Error) as Error,
    });
    expect(await sweepFiles(database, store, now)).toEqual({ removed: 25, failed: 0 });
  });

  it("do not keep a gateway from stopping if their bucket does not answer", async () => {
    const { store } = await stored([]);
    await expiredRows(database, 250);
    const ending = new AbortController();
    let asked = 0;
    const silent: FileStore = {
      ...store,
      remove(name) {
        if ((asked += 1) === 3) return store.remove(name);
        if (asked === 9) setImmediate(() => ending.abort());
        return new Promise(() => undefined);
      },
    };
    const swept = await sweepFiles(database, silent, now, ending.signal);
    expect(swept).toEqual({ removed: 1, failed: 0 });
    expect(asked).toBe(9);
    expect(await database.query("select count(*)::int as n from files")).toEqual([{ n: 249 }]);
  });
});

async function stored(names: readonly string[]) {
  const dataDir = temporaryDirectory();
  const store = await openFileStore({ kind: "local" }, dataDir);
  const options = { mediaType: "video/mp4", bytesMax: 100 };
  for (const name of names) await store.put(name, Readable.from([Buffer.from("file")]), options);
  return { store, names: () => readdirSync(join(dataDir, "files")) };
}

/** Inserts expired rows whose times have a finer resolution than a Date. */
async function expiredRows(database: Database, count: number): Promise<void> {
  await database.query(
    `insert into files (name, workspace_id, purpose, media_type, bytes, created_at, expires_at)
     select 'file-' || n || '.mp4', 'ws_1', 'result', 'video/mp4', 4, $1::timestamptz,
       $1::timestamptz - (n % 50) * interval '1.0007 seconds'
     from generate_series(1, $2::integer) n`,
    [now, count],
  );
}

/** Records the most rows that a query returns, and the most files that are removed at once. */
function watched(
  database: Database,
  store: FileStore,
  largest: { rows: number; removing: number },
): { database: Database; store: FileStore } {
  let removing = 0;
  return {
    database: {
      ...database,
      async query<Row extends object>(sql: string, params?: readonly unknown[]) {
        const rows = await database.query<Row>(sql, params);
        largest.rows = Math.max(largest.rows, rows.length);
        return rows;
      },
    },
    store: {
      ...store,
      async remove(name) {
        removing += 1;
        largest.removing = Math.max(largest.removing, removing);
        await store.remove(name);
        removing -= 1;
      },
    },
  };
}
