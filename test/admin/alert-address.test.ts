/** Which readers see the address of a workspace's alerts. docs/callbacks.md. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWorld, type World } from "./people.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.gateway.close());

it("VIS-04: members see only the host of the alert address; its path may hold a secret", async () => {
  const path = `/workspaces/${world.home.id}`;
  const address = "https://hooks.example.com:8443/services/T0/s3cret?key=s3cret";
  world.must(await world.ann.call("PATCH", path, { alert_webhook_url: address }));
  const seenBy = async (person: World["ann"]) => {
    const one = world.must(await person.call("GET", path));
    const { data } = world.must(await person.call("GET", "/workspaces"));
    const listed = data.find(({ id }: { id: string }) => id === world.home.id);
    return [one, listed].map(({ alert_webhook_url: url }) => url);
  };
  expect(await seenBy(world.ann)).toEqual([address, address]);
  const masked = "https://hooks.example.com:8443/****";
  expect(await seenBy(world.mem)).toEqual([masked, masked]);
  world.must(await world.ann.call("PATCH", path, { alert_webhook_url: null }));
  expect(await seenBy(world.mem)).toEqual([null, null]);
});
