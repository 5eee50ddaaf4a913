/** Opening, types, transactions, signals: one suite for both kinds of database. */
import { expect, it } from "vitest";
import { describeDatabase } from "../support/postgres.ts";

describeDatabase("a database", (open) => {
  it("returns int8 as bigint, timestamptz as Date, jsonb parsed, date as text", async () => {
    const database = await open();
    const rows = await database.query(
      "select $1::bigint as big, array[$1::bigint, null] as bigs, $2::timestamptz as at, $3::jsonb as json, date '2026-11-02' as day",
      [9_007_199_254_740_993n, new Date("2026-11-02T10:00:00.123Z"), JSON.stringify({ a: [1] })],
    );
    expect(rows).toEqual([
      {
        big: 9_007_199_254_740_993n,
        bigs: [9_007_199_254_740_993n, null],
        at: new Date("2026-11-02T10:00:00.123Z"),
        json: { a: [1] },
        day: "2026-11-02",
      },
    ]);
  });

  it("returns JSON objects with their own names, even after similar escaped names", async () => {
    const database = await open();
    for (const type of ["json", "jsonb"])
      for (const name of ["\\", "\n"]) {
        const [row] = await database.query<{ value: object }>(`select $1::${type} as value`, [
          JSON.stringify({ [type]: 1, [name]: 2 }),
        ]);
        expect(new Set(Object.keys(row!.value))).toEqual(new Set([type, name]));
      }
  });

  it("commits a transaction that resolves and rolls back one that throws", async () => {
    const database = await open();
    const put = (name: string, fail: boolean) =>
      database.transaction(async (tx) => {
        await tx.query("insert into settings (name, value) values ($1, '1')", [name]);
        if (fail) throw new Error("no");
      });
    await put("kept", false);
    await expect(put("lost", true)).rejects.toThrow("no");
    const names = await database.query("select name from settings");
    expect(names).toEqual([{ name: "kept" }]);
  });

  it("reports a transaction as failed when a swallowed error has already rolled it back", async () => {
    const database = await open();
    const work = database.transaction(async (tx) => {
      await tx.query("insert into settings (name, value) values ('x', '1')");
      await tx.query("select 1 / 0").catch(() => undefined);
    });
    await expect(work).rejects.toThrow("rolled back");
  });

  it("T85: many more concurrent transactions than connections all complete", async () => {
    const database = await open();
    await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        database.transaction(async (tx) => {
          await tx.query("insert into settings (name, value) values ($1, '1')", [`n${index}`]);
          await tx.query("select 1");
        }),
      ),
    );
    const [row] = await database.query<{ n: bigint }>("select count(*) as n from settings");
    expect(row?.n).toBe(300n);
  });

  it("keeps the parameters of concurrent statements apart", async () => {
    const database = await open();
    const wrong: unknown[] = [];
    await Promise.all(
      Array.from({ length: 30 }, async (_, caller) => {
        for (let call = 0; call < 50; call += 1) {
          const text = `${caller}/${call}`;
          const sql = caller % 2 === 0 ? "select $1::text as a" : "select $1::text as a, 1 as b";
          const [row] = await database.query<{ a: string }>(sql, [text], {
            name: `s${caller % 2}`,
          });
          if (row?.a !== text) wrong.push(row);
        }
      }),
    );
    expect(wrong).toEqual([]);
  });

  it("delivers a signal to its channel, after the commit, and not after a rollback", async () => {
    const database = await open();
    const got: string[] = [];
    database.signals.subscribe("keys", (payload) => got.push(payload));
    database.signals.subscribe("other", (payload) => got.push(`other ${payload}`));
    await expect.poll(() => database.signals.healthy()).toBe(true);
    await database.signals.publish("keys", "one: with a colon");
    await database.transaction(async (tx) => {
      await database.signals.publish("keys", "two", tx);
    });
    await database
      .transaction(async (tx) => {
        await database.signals.publish("keys", "never", tx);
        throw new Error("back");
      })
      .catch(() => undefined);
    await database.signals.publish("keys", "three");
    await expect.poll(() => got).toEqual(["one: with a colon", "two", "three"]);
  });
});
