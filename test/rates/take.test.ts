/**
 * The units of a limit that the database grants: never more within a minute, for any number of gateways and any clock. LIM-17;
 * docs/limits.md.
 */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { sweepRates } from "../../src/rates/index.ts";
import { grantSender, type GrantRequest, type SendGrantRequests } from "../../src/rates/take.ts";
import type { Database } from "../../src/storage/index.ts";
import { setLedgerClock } from "../ledger/support.ts";
import { describeDatabase } from "../support/postgres.ts";

const start = Date.UTC(2026, 10, 3, 12);
const setClock = (database: Database, ms: number) =>
  setLedgerClock(database, new Date(start + ms).toISOString());
let scopes = 0;
/** A new limit, without use. */
function newLimit(limit: number, unit: GrantRequest["unit"] = "requests") {
  scopes += 1;
  const name = { workspaceId: "w", scope: "key", scopeId: `k${scopes}`, unit } as const;
  return (need: number, more: Partial<GrantRequest> = {}): GrantRequest => ({
    ...name,
    limit,
    need,
    headroom: 0,
    first: need,
    corrections: [],
    ...more,
  });
}
const sendOne = async (send: SendGrantRequests, ask: GrantRequest) => (await send([ask]))[0]!;

describeDatabase("a limit of requests or tokens", (open) => {
  it("LIM-17: used units are free again a minute later, and never sooner", async () => {
    const database = await open();
    const send = grantSender(database, "g", 60_000);
    const ask = newLimit(3);
    await setClock(database, 500);
    expect(await sendOne(send, ask(3))).toMatchObject({ granted: 3, total: 3, resetMs: 60_500 });
    await setClock(database, 60_499);
    expect(await sendOne(send, ask(1))).toMatchObject({ granted: 0, total: 3, waitMs: 501 });
    await setClock(database, 61_000);
    expect(await sendOne(send, ask(1))).toMatchObject({ granted: 1, total: 1 });
    await setClock(database, 10 * 60_000);
    expect(await sendOne(send, ask(2))).toMatchObject({ granted: 2, total: 2 });
  });

  it("LIM-17: less is granted if less is left; headroom is granted only while eight times as much is left", async () => {
    const database = await open();
    const send = grantSender(database, "g", 60_000);
    const ask = newLimit(100);
    await setClock(database, 0);
    expect((await sendOne(send, ask(10, { headroom: 5 }))).granted).toBe(15);
    expect((await sendOne(send, ask(50, { headroom: 5 }))).granted).toBe(50);
    expect((await sendOne(send, ask(60))).granted).toBe(35);
    expect((await sendOne(send, ask(1))).granted).toBe(0);
  });

  it("LIM-17: returned units are free again, never more than were taken, nor after their minute; use beyond the taken units counts from now on", async () => {
    const database = await open();
    const send = grantSender(database, "g", 60_000);
    const ask = newLimit(10, "tokens");
    await setClock(database, 1_000);
    const { step } = await sendOne(send, ask(10));
    await setClock(database, 30_000);
    const back = await sendOne(send, ask(0, { corrections: [{ step, amount: -4 }] }));
    expect(back.total).toBe(6);
    const beyond = await sendOne(send, ask(0, { corrections: [{ step, amount: 7 }] }));
    expect(beyond.total).toBe(13);
    // The first second has left the window. A return for it now has no effect.
    await setClock(database, 65_000);
    expect((await sendOne(send, ask(0, { corrections: [{ step, amount: -6 }] }))).total).toBe(7);
    // More than was ever taken.
    const latest = await sendOne(send, ask(0));
    const corrections = [{ step: latest.step, amount: -60 }];
    expect((await sendOne(send, ask(0, { corrections }))).total).toBe(0);
    expect((await sendOne(send, ask(20))).granted).toBe(10);
  });

  it("LIM-17: after a lost answer, reported use counts twice for a minute, and returned units only once", async () => {
    const database = await open();
    const lost = Object.assign(new Error("the answer was lost"), { code: "08006" });
    let answers = 0;
    const losing: Pick<Database, "query"> = {
      async query(...asked) {
        const rows = await database.query<never>(...asked);
        if ((answers += 1) === 2) throw lost;
        return rows;
      },
    };
    const send = grantSender(losing as Database, "g", 60_000);
    const ask = newLimit(20, "tokens");
    await setClock(database, 1_000);
    const { step } = await sendOne(send, ask(10));
    const corrections = [
      { step, amount: -4 },
      { step, amount: 3 },
    ];
    expect((await sendOne(send, ask(0, { corrections }))).total).toBe(12);
    expect(answers).toBe(3);
  });

  it("a fractional number of tokens is counted as whole tokens", async () => {
    const database = await open();
    const ask = newLimit(5, "tokens");
    const corrections = [{ step: 0, amount: 2.7 }];
    const answer = await sendOne(grantSender(database, "g", 60_000), ask(1.5, { corrections }));
    expect(answer).toMatchObject({ granted: 1, total: 3 });
  });

  it("a clock that goes back by an hour frees no units early, and refuses calls for a minute, not an hour", async () => {
    const database = await open();
    const send = grantSender(database, "g", 60_000);
    const ask = newLimit(5);
    await setClock(database, 3_600_000);
    expect((await sendOne(send, ask(5))).granted).toBe(5);
    await setClock(database, 0);
    expect(await sendOne(send, ask(1))).toMatchObject({ granted: 0, total: 5, waitMs: 61_000 });
    await setClock(database, 61_000);
    expect((await sendOne(send, ask(5))).granted).toBe(5);
  });

  it("concurrent requests of four gateways are granted exactly the limit in total, for each of three limits", async () => {
    const database = await open();
    const gateways = ["a", "b", "c", "d"].map((name) => grantSender(database, name, 60_000));
    const asks = [newLimit(50), newLimit(50), newLimit(50)];
    await setClock(database, 0);
    const granted = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const answers = await gateways[index % 4]!(asks.map((ask) => ask(3)));
        return answers.map((answer) => answer.granted);
      }),
    );
    for (const place of [0, 1, 2])
      expect(granted.reduce((sum, row) => sum + row[place]!, 0)).toBe(50);
  });

  it("for random arrivals, no 60 seconds exceed the limit, and a call that waits as told is granted", async () => {
    const database = await open();
    const send = grantSender(database, "g", 60_000);
    const limit = 10;
    const arrivals = fc.array(fc.tuple(fc.nat(15_000), fc.integer({ min: 1, max: 4 })), {
      minLength: 1,
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(arrivals, async (steps) => {
        const ask = newLimit(limit);
        const granted: { atMs: number; amount: number }[] = [];
        let nowMs = 0;
        for (const [pauseMs, amount] of steps) {
          nowMs += pauseMs;
          await setClock(database, nowMs);
          let answer = await sendOne(send, ask(amount));
          if (answer.granted < amount) {
            // A caller that waits for all of it cannot use a part.
            const corrections = [{ step: answer.step, amount: -answer.granted }];
            const { waitMs } = await sendOne(send, ask(0, { first: amount, corrections }));
            nowMs += Math.max(waitMs, answer.waitMs);
            await setClock(database, nowMs);
            answer = await sendOne(send, ask(amount));
          }
          expect(answer.granted).toBe(amount);
          granted.push({ atMs: nowMs, amount });
        }
        for (const { atMs } of granted) {
          const within = granted.filter((each) => each.atMs >= atMs && each.atMs < atMs + 60_000);
          expect(within.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 12 },
    );
  });
});

describeDatabase("concurrent calls", (open) => {
  it("are limited across all gateways; running calls go on when the limit is lowered", async () => {
    const database = await open();
    const [a, b] = ["a", "b"].map((name) => grantSender(database, name, 60_000));
    const ask = newLimit(5, "calls");
    await setClock(database, 0);
    expect((await sendOne(a!, ask(4, { first: 0 }))).granted).toBe(4);
    expect((await sendOne(b!, ask(3, { first: 0 }))).granted).toBe(1);
    expect((await sendOne(a!, ask(4, { first: 4, limit: 2 }))).granted).toBe(4);
    expect((await sendOne(a!, ask(2, { first: 2 }))).granted).toBe(2);
    expect((await sendOne(b!, ask(3, { first: 1 }))).granted).toBe(3);
  });

  it("count until the lease of their dead gateway ends, and are forgotten then", async () => {
    const database = await open();
    const [a, b] = ["a", "b"].map((name) => grantSender(database, name, 60_000));
    const ask = newLimit(2, "calls");
    await setClock(database, 0);
    await sendOne(a!, ask(2, { first: 0 }));
    expect((await sendOne(b!, ask(1, { first: 0 }))).granted).toBe(0);
    await setClock(database, 60_001);
    expect((await sendOne(b!, ask(1, { first: 0 }))).granted).toBe(1);
    await setClock(database, 200_000);
    await database.query("select rate_sweep()");
    const left = await database.query(
      "select 1 from rate_windows union all select 1 from rate_calls",
    );
    expect(left).toEqual([]);
  });

  it("are forgotten within minutes after their gateway died, even if the database's clock was hours ahead", async () => {
    const database = await open();
    const [a, b] = ["a", "b"].map((name) => grantSender(database, name, 60_000));
    const ask = newLimit(2, "calls");
    await setClock(database, 6 * 3_600_000);
    await sendOne(a!, ask(2, { first: 0 }));
    await setClock(database, 0);
    await sweepRates(database);
    expect((await sendOne(b!, ask(1, { first: 0 }))).granted).toBe(0);
    await setClock(database, 60_001);
    expect((await sendOne(b!, ask(1, { first: 0 }))).granted).toBe(1);
  });
});
