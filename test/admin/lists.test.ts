/** Lists of objects with members: each reader finds only their own. docs/management.md "Rights". */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWorld, type World } from "./people.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.gateway.close());

it.each([
  ["/workspaces", "id"],
  ["/organizations", "organizationId"],
] as const)("GET %s lists only the reader's own", async (path, place) => {
  const { home, away, root, ann, mem, bob, must } = world;
  const seen = async (by: typeof root) => {
    const { data } = must(await by.call("GET", `${path}?limit=100`));
    return (data as { id: string }[]).map(({ id }) => id);
  };
  for (const member of [ann, mem]) expect(await seen(member)).toEqual([home[place]]);
  expect(await seen(bob)).toEqual([away[place]]);
  expect(await seen(root)).toEqual(expect.arrayContaining([home[place], away[place]]));
});
