/** A client that calls two gateways in turn, one call after the other, under a limit of one concurrent call. LIM-17. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { sharedPostgres } from "../support/postgres.ts";
import { chat } from "../rows/protocols.ts";
import { answering, startWorld, type World } from "../rows/world.ts";

const gateways: World[] = [];
beforeAll(async () => {
  const masterKey = Buffer.alloc(32, 7).toString("base64");
  const databaseUrl = await (await sharedPostgres()).createMigrated();
  const first = await startWorld({ masterKey, databaseUrl });
  gateways.push(first, await startWorld({ masterKey, databaseUrl, beside: first }));
  first.answer(answering);
});
afterAll(async () => {
  for (const gateway of gateways.toReversed()) await gateway.close();
});

it("LIM-17: sequential calls to alternating gateways never exceed a limit of one concurrent call", async () => {
  const { key } = await gateways[0]!.makeKey({ rateLimits: { concurrency: 1 } });
  const statuses: number[] = [];
  for (let count = 0; count < 100; count += 1) {
    const answer = await gateways[count % 2]!.call(chat, { key, stream: count % 3 === 0 });
    await answer.text();
    statuses.push(answer.status);
  }
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
});
