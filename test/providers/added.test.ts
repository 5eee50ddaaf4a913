/** Providers added over the management API work like the same lines in a file, and can change while the gateway runs. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Answer } from "../admin/support.ts";
import { eventually } from "../support/patience.ts";
import {
  answering,
  chat,
  modelRow,
  must,
  providerBody,
  secretKey,
  startWorld,
  type World,
} from "./support.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.upstream.answer(answering));

const admin = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  world.gateway.admin(method, path, body, headers);
const lastKey = () => world.upstream.requests.at(-1)?.headers.authorization;

describe("an added provider", () => {
  it("answers the next call at its own price, and is gone for the next call after its removal", async () => {
    const { upstream, gateway } = world;
    const made = must(await admin("POST", "/providers", providerBody("acme", upstream.url)));
    expect(made).toMatchObject({
      id: "acme",
      source: "api",
      source_line: null,
      vendor: null,
      version: 1,
      dialect: "openai-compatible",
      tier: "community",
      credentials: [{ id: "default", weight: 1, cooldown_until: null, reason: null }],
      paused_until: null,
      models: ["acme/model"],
    });
    const before = must(await admin("GET", `/workspaces/${gateway.workspaceId}/balance`));
    const answer = await chat(gateway, "acme/model");
    expect(answer.status).toBe(200);
    expect(lastKey()).toBe(`Bearer ${secretKey}`);
    const after = must(await admin("GET", `/workspaces/${gateway.workspaceId}/balance`));
    // 1,000 tokens of input at $1 and 1,000 of output at $2 per million.
    expect(Number(after.charged) - Number(before.charged)).toBeCloseTo(0.003, 9);
    must(await admin("DELETE", "/providers/acme"));
    expect((await chat(gateway, "acme/model")).status).toBe(404);
    expect((await admin("GET", "/providers/acme")).status).toBe(404);
    expect((await admin("DELETE", "/providers/acme")).status).toBe(404);
  });

  it("without a key is called without one, and may get one later", async () => {
    const { upstream, gateway } = world;
    const body = providerBody("keyless", upstream.url, { api_key: "none" });
    must(await admin("POST", "/providers", body));
    expect((await chat(gateway, "keyless/model")).status).toBe(200);
    expect(lastKey()).toBeUndefined();
    must(await admin("PATCH", "/providers/keyless", { api_key: secretKey }));
    await (await chat(gateway, "keyless/model")).text();
    expect(lastKey()).toBe(`Bearer ${secretKey}`);
    must(await admin("PATCH", "/providers/keyless", { api_key: "none" }));
    await (await chat(gateway, "keyless/model")).text();
    expect(lastKey()).toBeUndefined();
    must(await admin("DELETE", "/providers/keyless"));
  });

  it("by vendor name and key has the vendor's models at list prices, as with the vendor's variable", async () => {
    const made = must(await admin("POST", "/providers", { vendor: "mistral", api_key: secretKey }));
    expect(made).toMatchObject({
      id: "mistral",
      vendor: "mistral",
      base_url: "https://api.mistral.ai/v1",
    });
    const { environmentCatalog } = await import("../../src/catalog/index.ts");
    const preset = environmentCatalog({ MISTRAL_API_KEY: secretKey });
    expect(made.models).toEqual([...preset.models.keys()]);
    const catalog = world.gateway.catalog();
    for (const [id, model] of preset.models) expect(catalog.models.get(id)).toEqual(model);
    const { guarded, access, ...same } = catalog.providers.get("mistral")!;
    expect({ guarded, access }).toEqual({ guarded: false, access: undefined });
    expect(preset.providers.get("mistral")).toEqual(same);
    must(await admin("DELETE", "/providers/mistral"));
  });

  it.each([
    ["mistrl", 'is no vendor of the list; did you mean "mistral"?'],
    ["house-of-models", "is no vendor of the list; `tollgate vendors` lists them; for another one"],
  ])("is refused with advice if the vendor %s does not exist", async (vendor, told) => {
    const { status, json } = await admin("POST", "/providers", { vendor, api_key: secretKey });
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ param: "vendor" });
    expect(json.error.message).toContain(told);
  });

  it("may be a second account of a vendor, with models under its own id, at another address too", async () => {
    const { upstream, gateway } = world;
    const body = {
      id: "mistral-eu",
      vendor: "mistral",
      api_key: secretKey,
      base_url: upstream.url,
    };
    const made = must(await admin("POST", "/providers", body));
    expect(made.base_url).toBe(`${upstream.url}/v1`);
    expect(made.models).toContain("mistral-eu/mistral-large-latest");
    expect((await chat(gateway, "mistral-eu/mistral-large-latest")).status).toBe(200);
    expect(upstream.requests.at(-1)?.body["model"]).toBe("mistral-large-latest");
    must(await admin("DELETE", "/providers/mistral-eu"));
  });

  it("joins its offers to an existing model of another source", async () => {
    const { upstream, gateway } = world;
    const body = providerBody("joins", upstream.url, { models: [modelRow("sandbox/chat")] });
    must(await admin("POST", "/providers", body));
    const offers = gateway
      .catalog()
      .models.get("sandbox/chat")!
      .offers.map((one) => one.provider);
    expect(offers).toEqual(["sandbox-openai", "joins"]);
    expect((await chat(gateway, "sandbox/chat:joins")).status).toBe(200);
    expect(lastKey()).toBe(`Bearer ${secretKey}`);
    must(await admin("DELETE", "/providers/joins"));
    expect(gateway.catalog().models.get("sandbox/chat")!.offers).toHaveLength(1);
  });
});

describe("a change of an added provider", () => {
  beforeAll(async () => {
    must(await admin("POST", "/providers", providerBody("changes", world.upstream.url)));
  });

  it("applies a new key to the next call, and a call in flight keeps the old key", async () => {
    const { upstream, gateway } = world;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    upstream.answer(async (request, response) => {
      if (request.headers.authorization === `Bearer ${secretKey}`) await released;
      return answering(request, response);
    });
    const begun = upstream.requests.length;
    const slow = chat(gateway, "changes/model");
    await expect.poll(() => upstream.requests.length).toBe(begun + 1);
    must(await admin("PATCH", "/providers/changes", { api_key: "sk-the-second-key" }));
    expect((await chat(gateway, "changes/model")).status).toBe(200);
    expect(lastKey()).toBe("Bearer sk-the-second-key");
    release();
    expect((await slow).status).toBe(200);
    expect(upstream.requests.slice(begun).map((one) => one.headers.authorization)).toEqual([
      `Bearer ${secretKey}`,
      "Bearer sk-the-second-key",
    ]);
  });

  it("sets named fields, removes null ones, and leaves the rest", async () => {
    const path = "/providers/changes";
    const set = { tier: "partner", headers: { "x-team": "a" }, timeouts: { total_s: 7 } };
    expect(must(await admin("PATCH", path, set))).toMatchObject({
      ...set,
      timeouts: { total_s: 7 },
    });
    const cleared = must(await admin("PATCH", path, { headers: null, tier: null }));
    expect(cleared).toMatchObject({ tier: "community", timeouts: { total_s: 7 } });
    expect(cleared).not.toHaveProperty("headers");
    const models = [modelRow("changes/model"), modelRow("changes/other")];
    expect(must(await admin("PATCH", path, { models })).models).toEqual([
      "changes/model",
      "changes/other",
    ]);
  });

  it("is refused for the second of two changes with the same ETag, and a new key changes the ETag", async () => {
    const path = "/providers/changes";
    const { headers } = await admin("GET", path);
    const etag = headers.get("etag")!;
    const both = await Promise.all(
      ["official", "partner"].map((tier) => admin("PATCH", path, { tier }, { "if-match": etag })),
    );
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 412]));
    // A new key shows in no field, but still changes the ETag.
    const fresh = (await admin("GET", path)).headers.get("etag")!;
    must(await admin("PATCH", path, { api_key: "sk-third" }, { "if-match": fresh }));
    const stale = await admin("DELETE", path, undefined, { "if-match": fresh });
    expect(stale.status).toBe(412);
  });

  it("may add and remove keys, except the last one", async () => {
    const { gateway } = world;
    const path = "/providers/changes";
    must(await admin("PATCH", path, { api_key: "sk-first" }));
    const added = { id: "team-b", api_key: "sk-second", weight: 1e9 };
    const two = must(await admin("POST", `${path}/credentials`, added));
    expect(two.credentials).toMatchObject([
      { id: "default", weight: 1 },
      { id: "team-b", weight: 1e9 },
    ]);
    expect((await admin("POST", `${path}/credentials`, added)).status).toBe(409);
    await chat(gateway, "changes/model");
    expect(lastKey()).toBe("Bearer sk-second");
    expect((await admin("PATCH", path, { api_key: "sk-x" })).status).toBe(400);
    must(await admin("DELETE", `${path}/credentials/team-b`));
    await chat(gateway, "changes/model");
    expect(lastKey()).toBe("Bearer sk-first");
    expect((await admin("DELETE", `${path}/credentials/team-b`)).status).toBe(404);
    expect((await admin("DELETE", `${path}/credentials/default`)).status).toBe(409);
  });

  it("may add keys up to fifty", async () => {
    const keysOf = (count: number) => ({
      api_key: undefined,
      credentials: Array.from({ length: count }, (_, at) => ({ id: `k${at}`, api_key: "sk-x" })),
    });
    const add = (count: number) =>
      admin("POST", "/providers", providerBody("many", world.upstream.url, keysOf(count)));
    const paramOf = (answer: Answer) => [answer.status, answer.json.error?.param];
    expect(paramOf(await add(51))).toEqual([400, "credentials"]);
    expect(must(await add(50)).credentials).toHaveLength(50);
    const more = await admin("POST", "/providers/many/credentials", { id: "one", api_key: "sk-y" });
    expect(paramOf(more)).toEqual([400, "credentials"]);
    must(await admin("DELETE", "/providers/many"));
  });

  it("by removal lets a call in flight finish", async () => {
    const { upstream, gateway } = world;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    upstream.answer(async (request, response) => {
      await released;
      return answering(request, response);
    });
    const begun = upstream.requests.length;
    const slow = chat(gateway, "changes/model");
    await expect.poll(() => upstream.requests.length).toBe(begun + 1);
    must(await admin("DELETE", "/providers/changes"));
    expect((await chat(gateway, "changes/model")).status).toBe(404);
    release();
    expect((await slow).status).toBe(200);
  });
});

describe("a test call to a provider", () => {
  it("asks for a few tokens, returns the vendor's message without the key, and charges nothing", async () => {
    const { upstream, gateway } = world;
    must(await admin("POST", "/providers", providerBody("tried", upstream.url)));
    const balance = `/workspaces/${gateway.workspaceId}/balance`;
    const charged = async () => must(await admin("GET", balance)).charged as string;
    const before = await charged();
    expect(must(await admin("POST", "/providers/tried/test", {}))).toMatchObject({
      ok: true,
      model: "tried/model",
      credential: "default",
      status: 200,
      message: "answered",
    });
    const sent = upstream.requests.at(-1)!.body;
    expect(sent).toMatchObject({ model: "upstream-model" });
    expect(Number(sent["max_tokens"] ?? sent["max_completion_tokens"])).toBeLessThanOrEqual(16);
    upstream.answer((_request, response) => {
      const error = { message: `Incorrect API key provided: ${secretKey}` };
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ error }));
    });
    const refused = await admin("POST", "/providers/tried/test", {});
    expect(refused.json).toMatchObject({
      ok: false,
      status: 401,
      message: "Incorrect API key provided: [credential]",
    });
    expect(await charged()).toBe(before);
    expect(must(await admin("GET", "/providers/tried"))).toMatchObject({
      health: { state: "ready" },
      calls_last_hour: 0,
    });
    must(await admin("DELETE", "/providers/tried"));
  });

  it("works for sandbox providers, and names models that cannot be tried", async () => {
    const tried = must(await admin("POST", "/providers/sandbox-anthropic/test", {}));
    expect(tried).toMatchObject({ ok: true, status: 200 });
    const media = await admin("POST", "/providers/sandbox-xai/test", {});
    expect(media.json.error).toMatchObject({ code: "invalid_value", param: "model" });
    const foreign = await admin("POST", "/providers/sandbox-openai/test", { model: "no/such" });
    expect(foreign.json.error).toMatchObject({ code: "invalid_value", param: "model" });
    expect((await admin("POST", "/providers/nobody/test", {})).status).toBe(404);
  });
});

it("a response cache returns no answer of a removed provider, nor of a model that an alias named before", async () => {
  const { gateway, upstream } = world;
  const { key } = must(
    await admin("POST", "/keys", {
      workspace_id: gateway.workspaceId,
      name: "cached",
      response_cache: { ttl_seconds: 600 },
    }),
  ) as { key: string };
  const ask = async (model: string): Promise<string | null> => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
    return answer.headers.get("x-gw-cache");
  };
  const untilHit = (model: string) =>
    eventually(async () => (await ask(model)) === "hit", `${model} is kept`);
  const add = async (id: string, models: object[]) =>
    must(await admin("POST", "/providers", providerBody(id, upstream.url, { models })));

  await add("first", [modelRow("kept/model")]);
  await untilHit("kept/model");
  must(await admin("DELETE", "/providers/first"));
  const alias = { aliases: ["kept/now"] };
  await add("second", [modelRow("kept/model", alias), modelRow("kept/other")]);
  expect(await ask("kept/model")).toBe("miss");
  await untilHit("kept/now");
  const models = [modelRow("kept/model"), modelRow("kept/other", alias)];
  must(await admin("PATCH", "/providers/second", { models }));
  expect(await ask("kept/now")).toBe("miss");
  must(await admin("DELETE", "/providers/second"));
});
