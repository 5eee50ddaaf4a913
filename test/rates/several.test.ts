/** A limit behind several gateways: together they admit as much as a single one would. LIM-17; docs/limits.md. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { chat } from "../rows/protocols.ts";
import { answering, startWorld, type World } from "../rows/world.ts";

const gateways: World[] = [];
beforeAll(async () => {
  const masterKey = Buffer.alloc(32, 7).toString("base64");
  const databaseUrl = await (await sharedPostgres()).createMigrated();
  const first = await startWorld({ masterKey, databaseUrl });
  gateways.push(first);
  for (let count = 0; count < 2; count += 1)
    gateways.push(await startWorld({ masterKey, databaseUrl, beside: first }));
  first.answer(answering);
});
afterAll(async () => {
  for (const gateway of gateways.toReversed()) await gateway.close();
});

/**
 * Calls the gateways in turn, `perSecond` calls a second each, for `seconds`. Returns the times of the 200 answers, and the
 * number of answers "overloaded", which a busy machine may give.
 */
async function flood(key: string, perSecond: number, seconds: number) {
  const passed: number[] = [];
  let overloaded = 0;
  const started = performance.now();
  const calls: Promise<void>[] = [];
  const statuses = new Set<number>();
  const total = perSecond * gateways.length * seconds;
  for (let count = 0; count < total; count += 1) {
    const dueMs = (count / (perSecond * gateways.length)) * 1_000;
    await eventually(() => performance.now() - started >= dueMs, "the time of the next call");
    const gateway = gateways[count % gateways.length]!;
    calls.push(
      gateway.call(chat, { key }).then(async (answer) => {
        await answer.text();
        if (answer.status === 503) overloaded += 1;
        else statuses.add(answer.status);
        if (answer.status === 200) passed.push(performance.now() - started);
      }),
    );
  }
  await Promise.all(calls);
  expect([...statuses].sort((one, other) => one - other)).toEqual([200, 429]);
  return { passed, overloaded };
}

it("three gateways with a limit of 600 requests a minute admit 570 to 630 of 3,000 in every minute", async () => {
  const limit = shortOrLong(60, 600);
  const minutes = shortOrLong(1, 4);
  const [least, most] = shortOrLong([60, 60], [570, 630]);
  const { key } = await gateways[0]!.makeKey({ rateLimits: { requestsPerMinute: limit } });
  const { passed, overloaded } = await flood(
    key,
    shortOrLong(20, 16.67),
    shortOrLong(3, 60 * minutes),
  );
  expect(overloaded).toBeLessThanOrEqual(shortOrLong(180, 0));
  // In the first minute the whole limit is free at once. From then on each used unit is free again a minute after its use.
  for (let minute = 0; minute < minutes; minute += 1) {
    const within = passed.filter((ms) => ms >= minute * 60_000 && ms < (minute + 1) * 60_000);
    console.log(`minute ${minute + 1}: ${within.length}`);
    expect(within.length).toBeGreaterThanOrEqual(least - overloaded);
    expect(within.length).toBeLessThanOrEqual(most);
  }
});

it("a limit of concurrent calls holds across all gateways", async () => {
  const { key } = await gateways[0]!.makeKey({ rateLimits: { concurrency: 4 } });
  let running = 0;
  let most = 0;
  gateways[0]!.answer((request, response) => {
    running += 1;
    most = Math.max(most, running);
    setTimeout(() => {
      running -= 1;
      void answering(request, response);
    }, 30);
  });
  const started = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      await eventually(() => performance.now() - started >= index * 5, "the time of the next call");
      const answer = await gateways[index % 3]!.call(chat, { key });
      await answer.text();
      return answer.status;
    }),
  );
  expect(most).toBeLessThanOrEqual(4);
  expect(answers.filter((status) => status === 200).length).toBeGreaterThanOrEqual(4);
  // The calls leave nothing behind. Each gateway admits a call once the others' calls have been returned, and its own last
  // refusal is a tenth of a second old.
  for (const gateway of gateways)
    await eventually(async () => {
      const answer = await gateway.call(chat, { key });
      await answer.text();
      return answer.status === 200;
    }, "the calls are over for all gateways");
  for (let count = 0; count < 12; count += 1) {
    const answer = await gateways[count % 3]!.call(chat, { key });
    expect(answer.status).toBe(200);
    await answer.text();
  }
  gateways[0]!.answer(answering);
});
