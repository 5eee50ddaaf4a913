/** Gateways with different configurations on one database: which one takes a step at a provider that only some know. docs/tasks.md. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { submitStep } from "../../src/tasks/submit-step.ts";
import { cancelTask } from "../../src/tasks/cancel.ts";
import type { TaskServices } from "../../src/tasks/engine.ts";
import { findDue, otherGatewaysFirstMs, type LaneName } from "../../src/tasks/lease.ts";
import type { Provider } from "../../src/catalog/index.ts";
import { pollStep } from "../../src/tasks/poll-step.ts";
import { clock, dollar, jobOf, rowOf, running, useWorld } from "./steps-support.ts";
import { says } from "./support.ts";

const world = useWorld();

type Providers = Map<string, Provider>;

/** Gateways by their configuration: all but the first lack the provider `one`, or its key. */
function gateways(): Readonly<Record<string, TaskServices>> {
  const all = new Map(world.catalog.providers);
  const one = all.get("one")!;
  const others: Providers = new Map([...all].filter(([id]) => id !== "one"));
  const services = (providers: Providers, retired = providers): TaskServices => ({
    ...world.services,
    catalog: () => ({ ...world.catalog, providers, retired }),
  });
  const another = { ...one, credentials: [{ id: "another", apiKey: "k", weight: 1 }] };
  return {
    knows: world.services,
    retired: services(others, all),
    without: services(others),
    otherKey: services(new Map([...others, ["one", another]])),
  };
}

async function canClaim(id: string, asked: TaskServices, lane: LaneName): Promise<boolean> {
  const found = await findDue(asked, {
    lane,
    limit: 500,
    fullWorkspaces: [],
    passedOver: [],
    underWay: [],
    takesAbandoned: true,
  });
  return found.some((task) => task.id === id);
}

/** The gateways that would take the task's step now. */
async function claimersOf(id: string, lane: LaneName): Promise<string[]> {
  const all = Object.entries(gateways());
  const taken = await Promise.all(all.map(([, asked]) => canClaim(id, asked, lane)));
  return all.flatMap(([name], at) => (taken[at] === true ? [name] : []));
}

it("a poll is left to gateways that know its provider and key, until none has taken it or the task is past its deadline", async () => {
  const dueMs = clock.now();
  const job = await running(world, { due_at: new Date(dueMs) });
  expect(await claimersOf(job.id, "poll")).toEqual(["knows", "retired"]);
  clock.advance(otherGatewaysFirstMs);
  expect(await claimersOf(job.id, "poll")).toEqual(Object.keys(gateways()));
  clock.advance(-otherGatewaysFirstMs);

  const over = await running(world, { due_at: new Date(dueMs), expires_at: new Date(dueMs) });
  expect(await claimersOf(over.id, "poll")).toEqual(Object.keys(gateways()));
});

it("a new task is left to gateways that know one of its providers, until none has taken it or it has been tried", async () => {
  const due = { lease_token: null, due_at: new Date(clock.now()) };
  const { id } = await jobOf(world, "acme/clip", due);
  expect(await claimersOf(id, "ask")).toEqual(["knows", "otherKey"]);
  clock.advance(otherGatewaysFirstMs);
  expect(await claimersOf(id, "ask")).toEqual(Object.keys(gateways()));
  clock.advance(-otherGatewaysFirstMs);

  for (const job of [
    await jobOf(world, "acme/clips", due),
    await jobOf(world, "acme/clip", { ...due, attempt: 1 }),
    await jobOf(world, "acme/clip", { ...due, expires_at: due.due_at }),
    await jobOf(world, "acme/clip", { ...due, asking: true }),
  ])
    expect(await claimersOf(job.id, "ask")).toEqual(Object.keys(gateways()));
});

describe("a running task whose key was removed from the configuration", () => {
  /** Services whose provider has a key with another name and value. */
  function renamed(): TaskServices {
    const one = world.catalog.providers.get("one")!;
    const credentials = [{ id: "second", apiKey: "key-of-second", weight: 1 }];
    const providers = new Map([...world.catalog.providers, ["one", { ...one, credentials }]]);
    return { ...world.services, catalog: () => ({ ...world.catalog, providers }) };
  }

  it("T84: is polled with another key of its provider, and its result is stored and charged", async () => {
    world.vendor.plan("GET", world.vendor.done);
    const job = await running(world);
    await pollStep(renamed(), job);
    expect(world.vendor.calls("GET")[0]!.headers.authorization).toBe("Bearer key-of-second");
    expect(await rowOf(world, job.id)).toMatchObject({ status: "succeeded", costNano: dollar });
  });

  it("T84: can be canceled with that key", async () => {
    world.vendor.plan("GET", says.running);
    const job = await running(world);
    expect((await cancelTask(renamed(), "w1", job.id)).status).toBe("canceled");
  });

  it.each([
    ["does not know it", says.refused(404)],
    ["may not see it", says.refused(403, "AccessDenied")],
    ["finds the request invalid", says.refused(400, "InvalidParameter")],
  ])("T80 T84: keeps running if the account of that key %s", async (_what, reply) => {
    world.vendor.plan("GET", reply);
    const job = await running(world, {
      misses: 20,
      missing_since: new Date(clock.now() - 600_000),
    });
    await pollStep(renamed(), job);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "running", misses: 20 });
    expect(world.dueInMs).toEqual([15_000]);
  });
});

describe("a running task whose key has a new value under the same name, or whose provider has another address", () => {
  /** Services whose provider has changed. */
  function changed(change: object): TaskServices {
    const one = { ...world.catalog.providers.get("one")!, ...change };
    const providers = new Map([...world.catalog.providers, ["one", one]]);
    return { ...world.services, catalog: () => ({ ...world.catalog, providers }) };
  }
  /** Services whose provider has another value for its key. */
  function replaced(apiKey: string): TaskServices {
    const [credential] = world.catalog.providers.get("one")!.credentials;
    return changed({ credentials: [{ ...credential!, apiKey }] });
  }
  const moved = (): TaskServices => changed({ baseUrl: `${world.vendor.url}/elsewhere` });
  /** A task that a vendor accepted normally, but has not known for ten minutes and 20 polls. */
  async function taken(): Promise<string> {
    const { id } = await jobOf(world, "acme/clip");
    await submitStep(world.services, await rowOf(world, id));
    await world.database.query(
      "update tasks set lease_token = 'mine', misses = 20, missing_since = $2 where id = $1",
      [id, new Date(clock.now() - 600_000)],
    );
    return id;
  }

  it.each([
    ["does not know it", says.refused(404)],
    ["may not see it", says.refused(403, "AccessDenied")],
  ])("T80 T84: keeps running if the account of that key %s", async (_what, reply) => {
    const id = await taken();
    world.vendor.plan("GET", reply);
    await pollStep(replaced("key-of-another-account"), await rowOf(world, id));
    expect(await rowOf(world, id)).toMatchObject({ status: "running", misses: 20 });
  });

  it("T80 T84: keeps running if nothing at the new address knows it, and ends once the address is put back", async () => {
    const id = await taken();
    world.vendor.plan("GET", says.refused(404));
    await pollStep(moved(), await rowOf(world, id));
    expect(world.vendor.calls("GET")[0]!.path).toMatch(/^\/elsewhere\//);
    expect(await rowOf(world, id)).toMatchObject({ status: "running", misses: 20 });
    world.vendor.plan("GET", world.vendor.done);
    await world.database.query("update tasks set lease_token = 'mine' where id = $1", [id]);
    await pollStep(world.services, await rowOf(world, id));
    expect(await rowOf(world, id)).toMatchObject({ status: "succeeded", costNano: dollar });
  });

  it("T84: waits if its provider has a dialect by now that answers at once, and has no jobs to ask for", async () => {
    const job = await jobOf(world, "acme/pictures", {
      status: "running",
      provider: "painter",
      credential: "default",
      upstream_id: "job-of-before",
    });
    await pollStep(world.services, job);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "running" });
    expect([world.painter.requests, world.dueInMs]).toEqual([[], [15_000]]);
  });

  it("T84: is stored and charged if the new address knows it", async () => {
    const id = await taken();
    world.vendor.plan("GET", world.vendor.done);
    await pollStep(moved(), await rowOf(world, id));
    expect(await rowOf(world, id)).toMatchObject({ status: "succeeded", costNano: dollar });
  });

  it("T80 T84: expires as usual if an older version submitted it, its key is the same and its vendor has forgotten it", async () => {
    const id = await taken();
    const hash = createHash("sha256").update("key-of-one").digest("hex").slice(0, 8);
    await world.database.query(
      "update tasks set attempts = jsonb_set(attempts, '{0,key_hash}', to_jsonb($2::text)) where id = $1",
      [id, hash],
    );
    world.vendor.plan("GET", says.refused(404));
    await pollStep(world.services, await rowOf(world, id));
    expect(await rowOf(world, id)).toMatchObject({ status: "expired" });
  });

  it("T80 T84: expires as usual if the key is the same and its vendor has forgotten the job", async () => {
    const id = await taken();
    world.vendor.plan("GET", says.refused(404));
    await pollStep(replaced("key-of-one"), await rowOf(world, id));
    expect(await rowOf(world, id)).toMatchObject({ status: "expired" });
  });

  it("T84: is stored and charged if the new key can see it, and its log row has no hash of a key", async () => {
    const id = await taken();
    world.vendor.plan("GET", world.vendor.done);
    await pollStep(replaced("key-of-two"), await rowOf(world, id));
    expect(world.vendor.calls("GET").at(-1)!.headers.authorization).toBe("Bearer key-of-two");
    expect(await rowOf(world, id)).toMatchObject({ status: "succeeded", costNano: dollar });
    expect(JSON.stringify(world.requestRows[0]!.attempts)).not.toContain("key_hash");
  });
});
