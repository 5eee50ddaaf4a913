// Responses whose answer depends on what the vendor keeps: the response cache must not answer them.
import { afterAll, beforeAll, expect, it } from "vitest";
import { responses } from "../rows/protocols.ts";
import { startWorld, type World } from "../rows/world.ts";
import { json } from "../support/recorder.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const queued = { ...(responses.whole() as object), status: "queued", output: [], usage: null };

it.each([
  ["an answer that has only begun", { background: true }, queued],
  ["the next turn of a conversation", { conversation: "conv_1" }, responses.whole()],
  ["the next turn of a conversation", { conversation: { id: "conv_1" } }, responses.whole()],
])("%s is not cached: %j", async (_what, extra, answer) => {
  const { key } = await world.makeKey({ responseCache: { ttlSeconds: 600, chargePercent: 0 } });
  world.answer(json(answer));
  for (let calls = 1; calls <= 2; calls += 1) {
    const answered = await world.call(responses, { key, extra });
    expect([answered.status, answered.headers.get("x-gw-cache")]).toEqual([200, "bypass"]);
    await answered.text();
  }
  expect(world.first.requests.length + world.second.requests.length).toBe(2);
});
