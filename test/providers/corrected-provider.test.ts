/** A corrected provider is called at once, whatever its health was before. docs/routing.md "When one fails". */
import { afterAll, beforeAll, expect, it } from "vitest";
import { json } from "../support/recorder.ts";
import { answering, chat, must, providerBody, startWorld, type World } from "./support.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.gateway.credit("10");
});
afterAll(() => world.close());

it.each([
  ["another address", { base_url: "right" }],
  ["another credential", { api_key: "sk-another" }],
])("a provider's open circuit closes when it gets %s", async (_what, change) => {
  const { gateway, upstream } = world;
  const id = Object.keys(change)[0]!.replaceAll("_", "-");
  must(await gateway.admin("POST", "/providers", providerBody(id, upstream.url)));
  upstream.answer(json({ error: { message: "down" } }, 500));
  const openCircuits = async (): Promise<unknown[]> => {
    const read = must(await gateway.admin("GET", `/providers/${id}`));
    return read.circuits;
  };
  const statuses = [];
  while ((await openCircuits()).length === 0)
    statuses.push((await chat(gateway, `${id}/model`)).status);
  expect(new Set(statuses)).toEqual(new Set([502]));
  const { base_url: path } = { base_url: undefined, ...change };
  const patch = path === undefined ? change : { base_url: `${upstream.url}/${path}` };
  upstream.answer(answering);
  must(await gateway.admin("PATCH", `/providers/${id}`, patch));
  expect(await openCircuits()).toEqual([]);
  expect((await chat(gateway, `${id}/model`)).status).toBe(200);
});
