/** Finding keys in a list, and previews of the providers for a key's calls. One gateway for all tests. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ids, startWorld, type World } from "../admin-reads/support.ts";

let world: World;
const made: Record<string, { id: string; key: string; key_last4: string }> = {};
beforeAll(async () => {
  world = await startWorld();
  const { ann, mem, home } = world;
  for (const [name, person, more] of [
    ["Alpha 100%", ann, { spend_caps: { daily: "1" } }],
    ["beta_x", mem, { spend_caps: { monthly: "0.01" } }],
    ["gamma", mem, {}],
  ] as const)
    made[name] = world.must(
      await person.call("POST", "/keys", { workspace_id: home.id, name, ...more }),
    );
  await world.chat(made["beta_x"]!.key);
  await world.chat(made["Alpha 100%"]!.key);
  await world.chat(made["Alpha 100%"]!.key);
});
afterAll(() => world.gateway.close());

const names = async (query: string, who: "ann" | "mem" | "bob" = "ann"): Promise<string[]> => {
  const answer = await world[who].call("GET", `/keys?workspace_id=${world.home.id}&${query}`);
  return world.must(answer).data.map(({ name }: { name: string }) => name);
};

describe("the list of keys", () => {
  it("finds keys by part of the name, taken literally, by the last four characters and by id, and only the reader's own", async () => {
    expect(await names("q=ALPHA")).toEqual(["Alpha 100%"]);
    expect(await names("q=0%25")).toEqual(["Alpha 100%"]);
    expect(await names("q=_")).toEqual(["beta_x"]);
    expect(await names(`q=${made["gamma"]!.key_last4}`)).toEqual(["gamma"]);
    expect(await names(`q=${made["gamma"]!.id}`)).toEqual(["gamma"]);
    expect(await names("q=alpha", "mem")).toEqual([]);
    expect(await names(`q=${made["gamma"]!.id}`, "bob")).toEqual([]);
    for (const q of ["%00", "'%20or%20true--", "%5C", "a".repeat(101)])
      expect((await world.ann.call("GET", `/keys?q=${q}`)).status).toBeLessThan(500);
  });

  it("sorts by name, last use, spend and nearest cap, page by page", async () => {
    await expect.poll(() => names("sort=spend")).toEqual(["Alpha 100%", "beta_x", "gamma"]);
    expect(await names("sort=cap")).toEqual(["beta_x", "Alpha 100%", "gamma"]);
    expect(await names("sort=name")).toEqual(["Alpha 100%", "beta_x", "gamma"]);
    await expect.poll(() => names("sort=used&limit=1")).toEqual(["Alpha 100%"]);
    for (const sort of ["name", "spend", "cap", "used"]) {
      const paged: string[] = [];
      let cursor = "";
      do {
        const path = `/keys?workspace_id=${world.home.id}&sort=${sort}&limit=1${cursor}`;
        const page = await world.ann.call("GET", path);
        paged.push(...ids(page));
        cursor = page.json.next_cursor === null ? "" : `&cursor=${page.json.next_cursor}`;
      } while (cursor !== "");
      expect([...paged].sort()).toEqual(
        Object.values(made)
          .map(({ id }) => id)
          .sort(),
      );
    }
    expect((await world.ann.call("GET", "/keys?sort=key_prefix")).status).toBe(400);
  });

  it("shows the owner of each key", async () => {
    const { json } = await world.ann.call("GET", `/keys/${made["gamma"]!.id}`);
    expect(json.owner_email).toBe("mem@example.com");
  });
});

describe("a preview of routing", () => {
  const preview = (body: object, who: "ann" | "mem" | "bob" = "mem") =>
    world[who].call("POST", "/routing/preview", body);
  const model = "sandbox/chat";
  /** A model at two or more providers. */
  const several = "sandbox/multi";
  const shown = async (body: object) =>
    world.must(await preview({ key_id: made["gamma"]!.id, model, ...body }));

  it("is the plan that the next call gets", async () => {
    const { json } = await world.ann.call(
      "GET",
      `/requests/${await world.chat(made["gamma"]!.key)}`,
    );
    const { plan, refused } = await shown({ entry_point: "chat_completions" });
    expect(plan).toEqual(json.explanation.plan);
    expect(refused).toBeNull();
    expect(await shown({ entry_point: "chat_completions" })).toEqual(await shown({}));
  });

  it("uses the settings in the request and saves none of them", async () => {
    const { plan: before } = await shown({ model: several });
    expect(before.order.length).toBeGreaterThan(1);
    const last = before.order.at(-1).split("/")[0];
    const { plan: preferred } = await shown({
      model: several,
      routing: { preferred_providers: [last] },
    });
    expect(preferred.order[0].split("/")[0]).toBe(last);
    const { plan: pinned } = await shown({
      model: several,
      routing: { pinned_providers: [last] },
    });
    expect(pinned.order.every((one: string) => one.startsWith(`${last}/`))).toBe(true);
    const left = pinned.offers.filter(({ excluded }: { excluded?: string }) => excluded);
    expect(
      left.every(
        ({ excluded }: { excluded: string }) => excluded === "not among the pinned providers",
      ),
    ).toBe(true);
    const out = await shown({ model_allowlist: ["sandbox/other"] });
    expect(out).toMatchObject({ refused: { code: "model_not_allowed" }, plan: { order: [] } });
    const locked = await shown({ routing: { sort: "price" }, model: `${model}:@latency` });
    expect(locked.refused.code).toBe("routing_locked");
    expect(await shown({ model: several })).toMatchObject({ plan: before });
    const { json } = await world.mem.call("GET", `/keys/${made["gamma"]!.id}`);
    expect(json.routing.mode).toBe("follow");
  });

  it("is refused to users who may not read the key or the workspace", async () => {
    expect((await preview({ key_id: made["Alpha 100%"]!.id, model })).status).toBe(404);
    expect((await preview({ key_id: made["gamma"]!.id, model }, "bob")).status).toBe(404);
    expect((await preview({ workspace_id: world.home.id, model }, "bob")).status).toBe(404);
    expect((await preview({ workspace_id: world.home.id, model })).status).toBe(200);
    const both = { key_id: made["gamma"]!.id, workspace_id: world.away.id, model };
    expect((await preview(both)).status).toBe(404);
  });

  it("refuses incomplete, unknown and oversized input, naming the field", async () => {
    const key_id = made["gamma"]!.id;
    for (const [body, param] of [
      [{ model }, "key_id"],
      [{ key_id }, "model"],
      [{ key_id, model, routing: { pinned_providers: ["nobody"] } }, "routing.pinned_providers"],
      [{ key_id, model, entry_point: "tasks" }, "entry_point"],
      [{ key_id, model, random: true }, "random"],
      [{ key_id, model: "sandbox/none" }, "model"],
      [{ key_id, model: "sandbox/image" }, "model"],
      [{ key_id, model, model_allowlist: Array(10_001).fill("a/b") }, "model_allowlist"],
    ] as const) {
      const { status, json } = await preview(body);
      expect({ status: status >= 400 && status < 500, param: json.error.param }).toEqual({
        status: true,
        param,
      });
    }
    const huge = await preview({ key_id, model: "a".repeat(20_000_000) });
    expect([400, 413]).toContain(huge.status);
  });
});
