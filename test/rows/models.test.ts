/** Compares `GET /v1/models` with actual calls. MODELS rows, ALLOW-01 to ALLOW-04. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import {
  changeKey,
  changeOrganization,
  changeWorkspace,
  createOrganization,
  createWorkspace,
  type KeyInput,
} from "../../src/tenancy/index.ts";
import { errorCode } from "./endpoints.ts";
import {
  chat,
  generateContent,
  messages,
  protocols,
  responses,
  type Protocol,
} from "./protocols.ts";
import { answering, modelRow, startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({
    models: [
      modelRow("acme/official-only", chat, { providers: ["first"] }),
      modelRow("acme/community-only", chat, { providers: ["second"] }),
      modelRow("acme/narrow", chat, {
        extra:
          "parameters: { temperature: { min: 0, max: 1 }, reasoning_effort: { values: [low, high] }, n: { max: 2 }, seed: false }",
      }),
      modelRow("acme/narrow-gemini", generateContent, {
        extra: "parameters: { temperature: { min: 0, max: 1 } }",
      }),
    ].join("\n"),
  });
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const protocolFor = (id: string): Protocol =>
  protocols.find((protocol) => protocol.model === id) ??
  (id.endsWith("-gemini") ? generateContent : chat);
const allIds = [
  ...protocols.map((protocol) => protocol.model),
  "acme/official-only",
  "acme/community-only",
  "acme/narrow",
  "acme/narrow-gemini",
].sort();
const context = () => ({ database: world.gateway.database, clock: systemClock });

interface Listed {
  readonly id: string;
  readonly endpoints: string[];
  readonly supported_parameters: Record<
    string,
    { type: string; values?: (string | number)[]; min?: number; max?: number }
  >;
}
async function list(key?: string): Promise<Listed[]> {
  const headers: Record<string, string> =
    key === undefined ? {} : { authorization: `Bearer ${key}` };
  const answer = await fetch(`${world.gateway.url}/v1/models`, { headers });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: Listed[] }).data;
}
const listedIds = async (key?: string) => (await list(key)).map(({ id }) => id).sort();

/** The ids for which a call succeeds. Calls that fail must reach no upstream. */
async function callableIds(key: string): Promise<string[]> {
  const ids: string[] = [];
  for (const id of allIds) {
    world.answer(answering);
    const answer = await world.call(protocolFor(id), { key, model: id });
    await answer.text();
    if (answer.status === 200) ids.push(id);
    const reached = world.first.requests.length + world.second.requests.length;
    expect([id, answer.status, reached]).toEqual([
      id,
      answer.status,
      answer.status === 200 ? 1 : 0,
    ]);
  }
  return ids;
}

/** A key of a new workspace in a new organization. */
async function tenant(input: Partial<KeyInput> = {}) {
  const organization = await createOrganization(context(), { name: "org" });
  const workspace = await createWorkspace(context(), {
    organizationId: organization.id,
    name: "ws",
  });
  await world.gateway.ledger.credit({
    workspaceId: workspace.id,
    amountNano: 10n ** 9n,
    reference: "start",
  });
  const { key, record } = await world.makeKey({ workspaceId: workspace.id, ...input });
  return { organization, workspace, key, id: record.id };
}

describe("the list of models", () => {
  it("MODELS-06: has all models without a key", async () => {
    expect(await listedIds()).toEqual(allIds);
  });

  it("MODELS-01 ALLOW-02: has all models for an unrestricted key, and all can be called", async () => {
    const { key } = await tenant();
    expect(await listedIds(key)).toEqual(allIds);
    expect(await callableIds(key)).toEqual(allIds);
  });

  it("MODELS-01 MODELS-02 ALLOW-01: follows the key's allowlist at once, and so do calls", async () => {
    const { key, id } = await tenant({ modelAllowlist: ["acme/chat", "acme/gemini", "acme/gone"] });
    expect(await listedIds(key)).toEqual(["acme/chat", "acme/gemini"]);
    expect(await callableIds(key)).toEqual(["acme/chat", "acme/gemini"]);
    const refused = await world.call(messages, { key });
    expect([refused.status, errorCode(await refused.text())]).toEqual([403, "model_not_allowed"]);
    await changeKey(context(), { id }, { modelAllowlist: ["acme/messages"] });
    expect(await listedIds(key)).toEqual(["acme/messages"]);
    expect(await callableIds(key)).toEqual(["acme/messages"]);
    await changeKey(context(), { id }, { modelAllowlist: [] });
    expect(await listedIds(key)).toEqual(allIds);
  });

  it("MODELS-03 ALLOW-03: follows the allowlists of organization and workspace, which a key can only narrow", async () => {
    const { key, organization, workspace } = await tenant({
      modelAllowlist: ["acme/chat", "acme/messages", "acme/gemini"],
    });
    await changeOrganization(context(), organization.id, {
      modelAllowlist: ["acme/chat", "acme/messages", "acme/responses"],
    });
    expect(await listedIds(key)).toEqual(["acme/chat", "acme/messages"]);
    expect(await callableIds(key)).toEqual(["acme/chat", "acme/messages"]);
    await changeWorkspace(context(), workspace.id, {
      modelAllowlist: ["acme/messages", "acme/gemini"],
    });
    expect(await listedIds(key)).toEqual(["acme/messages"]);
    expect(await callableIds(key)).toEqual(["acme/messages"]);
    // The upper layers are widened again, so the key's models are callable again.
    await changeOrganization(context(), organization.id, { modelAllowlist: [] });
    await changeWorkspace(context(), workspace.id, { modelAllowlist: [] });
    expect(await callableIds(key)).toEqual(["acme/chat", "acme/gemini", "acme/messages"]);
  });

  it("MODELS-04 ROUTE-07: lacks a model that only an excluded tier offers, and that tier's provider is never called", async () => {
    const { key } = await tenant({ routing: { mode: "custom", supplyTiers: ["official"] } });
    const expected = allIds.filter((id) => id !== "acme/community-only");
    expect(await listedIds(key)).toEqual(expected);
    expect(await callableIds(key)).toEqual(expected);
    world.answer(answering);
    for (let call = 0; call < 12; call += 1) await (await world.call(chat, { key })).text();
    expect(world.second.requests).toHaveLength(0);
  });

  it("MODELS-05 ROUTE-09: lacks a model that no pinned provider offers, and a call to it reaches no provider", async () => {
    const { key } = await tenant({ routing: { mode: "custom", pinnedProviders: ["second"] } });
    const expected = allIds.filter((id) => id !== "acme/official-only");
    expect(await listedIds(key)).toEqual(expected);
    expect(await callableIds(key)).toEqual(expected);
  });

  it("MODELS-01: a model can be read by its id exactly when it is in the list", async () => {
    const { key } = await tenant({ modelAllowlist: ["acme/chat"] });
    for (const path of [
      "/v1/models/acme/chat",
      "/v1/models/acme%2Fchat",
      "/v1beta/models/acme/chat",
    ]) {
      expect([
        path,
        (await world.gateway.get(path, { authorization: `Bearer ${key}` })).status,
      ]).toEqual([path, 200]);
    }
    const absent = await world.gateway.get("/v1/models/acme/messages", {
      authorization: `Bearer ${key}`,
    });
    expect([absent.status, errorCode(await absent.text())]).toEqual([404, "model_not_found"]);
  });
});

describe("a model in the list", () => {
  it("MODELS-08: has exactly the documented fields", async () => {
    const answer = await world.gateway.get("/v1/models");
    const body = (await answer.json()) as { object: string; data: Listed[] };
    expect(Object.keys(body)).toEqual(["object", "data"]);
    expect(body.object).toBe("list");
    const { supported_parameters: parameters, ...model } = body.data.find(
      ({ id }) => id === "acme/chat",
    )!;
    expect(model).toEqual({
      id: "acme/chat",
      object: "model",
      created: expect.any(Number) as number,
      owned_by: "acme",
      name: "acme/chat",
      description: "",
      context_length: 100_000,
      max_output_tokens: 8_000,
      architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
      endpoints: ["chat_completions"],
      pricing: [
        { billable: "input_tokens", unit: "million_tokens", price_usd: "1" },
        { billable: "cache_read_tokens", unit: "million_tokens", price_usd: "0.1" },
        { billable: "cache_write_tokens", unit: "million_tokens", price_usd: "1.25" },
        { billable: "output_tokens", unit: "million_tokens", price_usd: "10" },
      ],
      providers: [
        { id: "first", supply_tier: "official", supports_streaming: true },
        { id: "second", supply_tier: "community", supports_streaming: true },
      ],
    });
    for (const domain of Object.values(parameters)) {
      expect(["enum", "integer", "number", "boolean", "string", "object", "array"]).toContain(
        domain.type,
      );
    }
  });
});

/** Values inside and outside a domain, if the domain has limits. */
function samples(domain: Listed["supported_parameters"][string]): {
  inside: unknown[];
  outside: unknown[];
} {
  const { type, values, min, max } = domain;
  if (values) return { inside: [...values], outside: ["no-such-value", 17, true] };
  if (type === "integer" || type === "number") {
    const outside: unknown[] = ["x", true, {}];
    if (min !== undefined) outside.push(min - 1);
    if (max !== undefined) outside.push(max + 1);
    if (type === "integer") outside.push((min ?? 0) + 0.5);
    return { inside: [min, max].filter((value) => value !== undefined), outside };
  }
  if (type === "boolean") return { inside: [true, false], outside: ["yes", 1] };
  if (type === "string") return { inside: ["text"], outside: [17, {}] };
  if (type === "array") {
    const strings = Array.from({ length: max ?? 1 }, (_one, index) => `s${index}`);
    return {
      inside: max === undefined ? [] : [strings],
      outside: [17, ...(max === undefined ? [] : [[...strings, "more"]])],
    };
  }
  return { inside: [], outside: [17] };
}

describe("supported_parameters", () => {
  it.each(["acme/chat", "acme/narrow"])(
    "MODELS-07: a call accepts values inside a domain and refuses values outside it (%s)",
    async (id) => {
      const { supported_parameters: parameters } = (await list()).find((model) => model.id === id)!;
      let tried = 0;
      const check = async (name: string, value: unknown, status: number) => {
        world.answer(answering);
        const answer = await world.call(chat, { model: id, extra: { [name]: value } });
        const text = await answer.text();
        expect([name, value, answer.status]).toEqual([name, value, status]);
        const reached = world.first.requests.length + world.second.requests.length;
        expect([name, value, reached]).toEqual([name, value, status === 200 ? 1 : 0]);
        tried += 1;
        return text;
      };
      for (const [name, domain] of Object.entries(parameters)) {
        const { inside, outside } = samples(domain);
        for (const value of inside) await check(name, value, 200);
        for (const value of outside) {
          const text = await check(name, value, 400);
          expect(JSON.parse(text)).toMatchObject({
            error: { param: expect.stringContaining(name) as string },
          });
        }
      }
      expect(tried).toBeGreaterThan(60);
    },
  );

  it("MODELS-07: a model's narrower domain is listed, and applies to every spelling of the parameter", async () => {
    const models = await list();
    const narrow = models.find((model) => model.id === "acme/narrow")!.supported_parameters;
    expect(narrow).toMatchObject({
      temperature: { type: "number", min: 0, max: 1 },
      reasoning_effort: { type: "enum", values: ["low", "high"] },
      n: { type: "integer", min: 1, max: 2 },
    });
    expect(narrow).not.toHaveProperty("seed");
    for (const extra of [
      { generationConfig: { temperature: 1.5 } },
      { generation_config: { temperature: 1.5 } },
    ]) {
      const answer = await world.call(generateContent, { model: "acme/narrow-gemini", extra });
      expect([extra, answer.status]).toEqual([extra, 400]);
    }
    expect(
      (await world.call(generateContent, { extra: { generationConfig: { temperature: 1.5 } } }))
        .status,
    ).toBe(200);
  });

  it("MODELS-07: limits apply in the other protocols too", async () => {
    for (const [protocol, extra] of [
      [responses, { temperature: 2.1 }],
      [messages, { temperature: 1.1 }],
      [generateContent, { generationConfig: { temperature: 2.1 } }],
    ] as const) {
      expect((await world.call(protocol, { extra })).status).toBe(400);
    }
  });
});
