/** The gateway polls a task with the key that submitted it, even if the provider or the key was removed since. T84. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startArkVendor, says, type ArkVendor } from "../tasks/support.ts";
import { eventually } from "../support/patience.ts";
import { must, startWorld, type World } from "./support.ts";

describe("a task in flight", () => {
  let world: World;
  let vendor: ArkVendor;
  beforeAll(async () => {
    vendor = await startArkVendor();
    world = await startWorld({
      tasks: { firstPollMs: 50 } as never,
    });
  });
  afterAll(async () => {
    await world.close();
    await vendor.close();
  });

  const admin = (method: string, path: string, body?: unknown) =>
    world.gateway.admin(method, path, body);
  const add = async (id: string, more: object) =>
    must(
      await admin("POST", "/providers", {
        id,
        dialect: "ark",
        base_url: `${vendor.url}/api/v3`,
        models: [
          {
            id: `${id}/clip`,
            kind: "video",
            family: "video-tokens",
            offers: [{ upstream_model: "clip", price: { output_video_token: "1" } }],
          },
        ],
        ...more,
      }),
    );
  const submit = async (model: string): Promise<string> => {
    vendor.reset();
    vendor.plan("GET", says.running);
    const answer = await world.gateway.post("/v1/tasks", { model, prompt: "A boat" });
    const body = (await answer.json()) as { id: string };
    expect(answer.status).toBeLessThan(300);
    await eventually(() => vendor.calls("GET").length > 0, "the first poll");
    return body.id;
  };
  const statusOf = async (id: string): Promise<string> => {
    const answer = await world.gateway.get(`/v1/tasks/${id}`);
    return ((await answer.json()) as { status: string }).status;
  };
  const ended = async (id: string): Promise<void> => {
    const before = vendor.calls("GET").length;
    await eventually(() => vendor.calls("GET").length > before, "a poll after the removal");
    vendor.plan("GET", vendor.done);
    await eventually(async () => (await statusOf(id)) === "succeeded", "the end of the task");
  };

  it("finishes after its provider was removed; until then the provider's id stays reserved", async () => {
    await add("gone", { api_key: "key-of-gone" });
    const task = await submit("gone/clip");
    must(await admin("DELETE", "/providers/gone"));
    expect((await admin("GET", "/providers/gone")).status).toBe(404);
    const early = await admin("POST", "/providers", {
      id: "gone",
      vendor: "mistral",
      api_key: "k",
    });
    expect([early.status, early.json.error.message]).toEqual([
      409,
      'The provider "gone" was removed, and tasks that it took are still under way. Take another id, or wait for them.',
    ]);
    await ended(task);
    const keys = new Set(vendor.calls("GET").map(({ headers }) => headers.authorization));
    expect(keys).toEqual(new Set(["Bearer key-of-gone"]));
    await add("gone", { api_key: "k" });
    must(await admin("DELETE", "/providers/gone"));
    const rows = await world.gateway.database.query("select id from providers", []);
    expect(rows).toEqual([]);
  });

  it("finishes with its removed key after the other key was replaced", async () => {
    await add("swap", {
      credentials: [
        { id: "old", api_key: "key-removed", weight: 1e9 },
        { id: "new", api_key: "key-first", weight: 1e-9 },
      ],
    });
    const task = await submit("swap/clip");
    must(await admin("DELETE", "/providers/swap/credentials/old"));
    must(await admin("PATCH", "/providers/swap", { api_key: "key-second" }));
    await ended(task);
    const keys = new Set(vendor.calls("GET").map(({ headers }) => headers.authorization));
    expect(keys).toEqual(new Set(["Bearer key-removed"]));
    const next = await submit("swap/clip");
    expect(vendor.calls("POST").at(-1)!.headers.authorization).toBe("Bearer key-second");
    await ended(next);
  });

  it("finishes with its removed key, and new tasks use another one", async () => {
    await add("keys", {
      credentials: [
        { id: "old", api_key: "key-old", weight: 1e9 },
        { id: "new", api_key: "key-new", weight: 1e-9 },
      ],
    });
    const task = await submit("keys/clip");
    must(await admin("DELETE", "/providers/keys/credentials/old"));
    await ended(task);
    const keys = new Set(vendor.calls("GET").map(({ headers }) => headers.authorization));
    expect(keys).toEqual(new Set(["Bearer key-old"]));
    await submit("keys/clip");
    expect(vendor.calls("POST").at(-1)!.headers.authorization).toBe("Bearer key-new");
    vendor.plan("GET", vendor.done);
    // No task needs the removed key any more, so its name is free.
    must(await admin("POST", "/providers/keys/credentials", { id: "old", api_key: "k" }));
  });
});
