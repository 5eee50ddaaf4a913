/** The order and the turns of the queries that one process sends about its limits. docs/limits.md. */
import { setImmediate } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { RateBatcher } from "../../src/rates/rate-batcher.ts";
import { grantSender, type GrantRequest, type MeterName } from "../../src/rates/take.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { eventually } from "../support/patience.ts";

const nameOf = (scopeId: string): MeterName => ({
  workspaceId: "w",
  scope: "key",
  scopeId,
  unit: "requests",
});
const grantedOf = ({ need }: GrantRequest) => ({
  step: 1,
  granted: need,
  total: need,
  waitMs: 0,
  resetMs: 1,
});

it("a limit that is requested once is in the second query at the latest, while 500 others are requested all the time", async () => {
  const sent: string[][] = [];
  const batcher = new RateBatcher(async (asks) => {
    sent.push(asks.map(({ scopeId }) => scopeId));
    await setImmediate();
    return asks.map(grantedOf);
  });
  const take = (id: string) => batcher.take(batcher.meterOf(nameOf(id)), 1, 10_000);
  const over = new AbortController();
  const again = async (id: string): Promise<void> => {
    while (!over.signal.aborted) await take(id);
  };
  const busy = Array.from({ length: 500 }, (_, index) => again(`a${index}`));
  const late = take("z");
  await eventually(() => sent.length >= 4, "four queries");
  over.abort();
  await Promise.all([...busy, late]);
  expect(sent.findIndex((ids) => ids.includes("z"))).toBeLessThanOrEqual(1);
});

it("the tokens of a call that outlived its idle limit are sent again after the database was away", async () => {
  using now = vi.spyOn(performance, "now");
  const sent: GrantRequest["corrections"][] = [];
  let isAway = false;
  const batcher = new RateBatcher(async (asks) => {
    if (isAway) throw new Error("away");
    sent.push(...asks.map(({ corrections }) => corrections));
    return asks.map(grantedOf);
  });
  const meter = batcher.meterOf(nameOf("k"));
  await batcher.take(meter, 10, 100);
  now.mockReturnValueOnce(performance.now() + 600_000);
  batcher.heartbeat();
  expect(batcher.meterOf(nameOf("k"))).not.toBe(meter);
  isAway = true;
  batcher.correct(meter, 1, 50);
  await eventually(() => meter.hasCorrections, "a query that fails");
  isAway = false;
  batcher.heartbeat();
  await eventually(() => sent.length === 2, "a second query");
  expect(sent[1]).toEqual([{ step: 1, amount: 50 }]);
});

describeDatabase("several gateways", (open) => {
  it("are granted no more than a limit in total, and never deadlock, in whatever order their calls name three limits", async () => {
    const database = await open();
    const errors: unknown[] = [];
    const noting: Pick<Database, "query"> = {
      query: <Row extends object>(...asked: Parameters<Database["query"]>) =>
        database.query<Row>(...asked).catch((error: unknown) => {
          errors.push(error);
          throw error;
        }),
    };
    const admitted = { one: 0, two: 0, three: 0 };
    const names = Object.keys(admitted) as (keyof typeof admitted)[];
    const gateways = ["a", "b", "c", "d"].map(
      (name) => new RateBatcher(grantSender(noting as Database, name, 60_000)),
    );
    const take = async (batcher: RateBatcher, id: keyof typeof admitted): Promise<void> => {
      if ((await batcher.take(batcher.meterOf(nameOf(id)), 1, 50)) === undefined) admitted[id] += 1;
    };
    await Promise.all(
      gateways.map(async (batcher, index) => {
        for (let round = 0; round < 20; round += 1) {
          const turned = [...names.slice(round % 3), ...names.slice(0, round % 3)];
          await Promise.all(
            (index % 2 === 0 ? turned : turned.reverse()).map((id) => take(batcher, id)),
          );
        }
      }),
    );
    expect(errors).toEqual([]);
    for (const id of names) {
      expect(admitted[id]).toBeLessThanOrEqual(50);
      // Each gateway may hold two ahead of its calls.
      expect(admitted[id]).toBeGreaterThanOrEqual(42);
    }
  });
});
