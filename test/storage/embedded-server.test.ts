/** The embedded database's own wire server: request cycles of several connections never mix. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { preparedDataDir, silentLog } from "../support/postgres.ts";

let here: Database;
let joined: Database;
beforeAll(async () => {
  const dataDir = await preparedDataDir();
  here = await openDatabase({ dataDir, log: silentLog });
  joined = await openDatabase({ dataDir, join: true, log: silentLog });
});
afterAll(async () => {
  await joined.close();
  await here.close();
});

const either = (index: number): Database => (index % 2 === 0 ? here : joined);

describe("connections that share the one session", () => {
  it("never bind their parameters to another's statement, however many pieces a statement comes in", async () => {
    const large = "x".repeat(300_000);
    const questions = [
      [
        "select length($1::text) as a, $2::int as b",
        (index: number) => [large, index],
        large.length,
      ],
      ["select 'y' as a, $1::int + $2::int as b", (index: number) => [index, 0], "y"],
      ["select $2::text as a, $1::int as b", (index: number) => [index, "z"], "z"],
    ] as const;
    const answers = await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const [sql, params, a] = questions[index % questions.length]!;
        const rows = await either(index).query<{ a: unknown; b: number }>(sql, params(index));
        return rows[0]!.a === a && rows[0]!.b === index;
      }),
    );
    expect(answers.filter((right) => !right)).toEqual([]);
  });

  it("share a statement that is prepared by name; another process keeps to its own, whatever it calls it", async () => {
    const options = { name: "shared", embedded: true };
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const target = either(index);
        const sql = target === here ? "select $1::int + 1 as a" : "select $1::int * 2 as a";
        const rows = await target.query<{ a: number }>(sql, [index], options);
        return rows[0]!.a - (target === here ? index + 1 : index * 2);
      }),
    );
    expect(answers.filter((difference) => difference !== 0)).toEqual([]);
    const prepared = await here.query("select name from pg_prepared_statements where name <> ''");
    expect(prepared).toEqual([{ name: "shared" }]);
    // One that cannot be prepared is told so each time, and is not taken for prepared.
    const wrong = { name: "wrong", embedded: true };
    for (let again = 0; again < 2; again += 1)
      await expect(here.query("select $1::int from nowhere", [1], wrong)).rejects.toThrow(
        /nowhere/,
      );
    await here.query("create table nowhere (a int)");
    expect(await here.query("select $1::int from nowhere", [1], wrong)).toEqual([]);
  });

  it("wait for a transaction that another of them has open", async () => {
    await here.query("create table counted (number int not null)");
    await here.query("insert into counted values (0)");
    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        either(index).transaction(async (tx) => {
          const [row] = await tx.query<{ number: number }>("select number from counted");
          await new Promise((resolve) => setTimeout(resolve, 1));
          await tx.query("update counted set number = $1", [row!.number + 1]);
        }),
      ),
    );
    expect(await here.query("select number from counted")).toEqual([{ number: 30 }]);
  });

  it("leave nothing open when one goes away in the middle of its transaction", async () => {
    await here.query("create table kept (number int)");
    const leaving = joined.transaction(
      async (tx) => {
        await tx.query("insert into kept values (1)");
        await new Promise((resolve) => setTimeout(resolve, 5_000));
      },
      { msMax: 50 },
    );
    await expect(leaving).rejects.toThrow(/terminated|ended|closed/i);
    expect(await here.query("select * from kept")).toEqual([]);
  }, 15_000);
});
