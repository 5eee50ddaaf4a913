/** Gateways with different configurations on one database: who takes the poll of a provider that only some know. docs/tasks.md. */
import { expect, it } from "vitest";
import type { TaskServices } from "../../src/tasks/engine.ts";
import { findDue, othersMs } from "../../src/tasks/lease.ts";
import { clock, running, useWorld } from "./steps-support.ts";

const world = useWorld();

it("a poll is left to the gateways that know its provider and key, until nobody has taken it or the task is over", async () => {
  const providers = new Map(world.catalog.providers);
  const one = providers.get("one")!;
  providers.delete("one");
  const services = (known: typeof providers, retired = known): TaskServices => ({
    ...world.services,
    catalog: () => ({ ...world.catalog, providers: known, retired }),
  });
  const another = { ...one, credentials: [{ id: "another", apiKey: "k", weight: 1 }] };
  const without = services(providers);
  const gateways = {
    knows: world.services,
    retired: services(providers, world.catalog.providers as typeof providers),
    without,
    otherKey: services(new Map([...providers, ["one", another]])),
  };
  const takes = async (id: string, asked: TaskServices): Promise<boolean> => {
    const found = await findDue(asked, {
      status: "running",
      limit: 500,
      fullWorkspaces: [],
      underWay: [],
      takesAbandoned: true,
    });
    return found.some((task) => task.id === id);
  };
  const takers = async (id: string): Promise<string[]> => {
    const all = Object.entries(gateways);
    const taken = await Promise.all(all.map(([, asked]) => takes(id, asked)));
    return all.flatMap(([name], at) => (taken[at] === true ? [name] : []));
  };
  const dueMs = clock.now();
  const job = await running(world, { due_at: new Date(dueMs) });
  expect(await takers(job.id)).toEqual(["knows", "retired"]);
  clock.advance(othersMs);
  expect(await takers(job.id)).toEqual(Object.keys(gateways));
  clock.advance(-othersMs);

  const over = await running(world, { due_at: new Date(dueMs), expires_at: new Date(dueMs) });
  expect(await takers(over.id)).toEqual(Object.keys(gateways));
});
