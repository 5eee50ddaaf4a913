/** Rows that are copied from one database to another: if one side fails, the other ends, and the error says why. */
import { expect, it } from "vitest";
import { carryOver } from "../../src/backup/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";

/** Inserts more rows than a stream buffers. */
const fill = (database: Database): Promise<object[]> =>
  database.query(
    `insert into request_bodies (workspace_id, id, sealed)
     select 'w', 'req_' || i, sha512(i::text::bytea) from generate_series(1, 20000) i`,
  );

const refusing = (database: Database, pattern: RegExp): Database => ({
  ...database,
  transaction: (work, options) =>
    database.transaction(
      (tx) =>
        work({
          query: (sql, params, more) =>
            pattern.test(sql)
              ? Promise.reject(new Error("no space left on device"))
              : tx.query(sql, params, more),
        }),
      options,
    ),
});

describeDatabase("carrying over a database", (open) => {
  it("fails with the error of the target database, and leaves no connection to the source open", async () => {
    const [from, to] = [await open(), await open()];
    await fill(from);
    const failed = carryOver(from, refusing(to, /insert into "request_bodies"/));
    await expect(failed).rejects.toThrow("no space left on device");
    expect(from.pool.totalCount - from.pool.idleCount).toBe(0);
  });

  it("fails when the target database fails before it reads any row", async () => {
    const [from, to] = [await open(), await open()];
    await fill(from);
    const failed = carryOver(from, refusing(to, /create table if not exists schema_migrations/));
    await expect(failed).rejects.toThrow("no space left on device");
    expect(from.pool.totalCount - from.pool.idleCount).toBe(0);
  });

  it("fails with the error of the source database, and leaves no connection to the target open", async () => {
    const [from, to] = [await open(), await open()];
    await fill(from);
    const failed = carryOver(refusing(from, /fetch forward \d+ from backup_rows/), to);
    await expect(failed).rejects.toThrow("no space left on device");
    expect(to.pool.totalCount - to.pool.idleCount).toBe(0);
  });
});
