/** Which of two upstreams answers: suffixes, strategies, pins, tiers, preferences, sessions. ROUTE rows. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import {
  changeKey,
  changeOrganization,
  changeWorkspace,
  createOrganization,
  createWorkspace,
  type RoutingSettings,
} from "../../src/tenancy/index.ts";
import { json } from "../support/recorder.ts";
import { errorCode } from "./endpoints.ts";
import { chat, eachProtocol, messages, protocols, responses, type Protocol } from "./protocols.ts";
import { answering, modelRow, startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({
    models: [
      modelRow("acme/official-only", chat, { providers: ["first"] }),
      modelRow("acme/community-only", chat, { providers: ["second"] }),
    ].join("\n"),
  });
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const context = () => ({ database: world.gateway.database, clock: systemClock });
const failing = json({ error: { message: "down" } }, 500);

async function tenant() {
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
  const { key, record } = await world.makeKey({ workspaceId: workspace.id });
  return { organization, workspace, key, id: record.id };
}

/** Sets a key's own routing. */
const route = (id: string, routing: Partial<RoutingSettings>) =>
  changeKey(context(), { id }, { routing: { mode: "custom", ...routing } });

/** Makes calls. Returns the number of requests at each upstream, and the statuses. */
async function countAnswers(
  key: string,
  options: { calls?: number; model?: string; protocol?: Protocol } = {},
) {
  const { calls = 8, protocol = chat, model = protocol.model } = options;
  world.first.requests.length = 0;
  world.second.requests.length = 0;
  const answers = await Promise.all(
    Array.from({ length: calls }, async () => {
      const answer = await world.call(protocol, { key, model });
      await answer.text();
      return answer.status;
    }),
  );
  return {
    first: world.first.requests.length,
    second: world.second.requests.length,
    statuses: [...new Set(answers)],
  };
}

describe("suffixes", () => {
  it.each(eachProtocol)(
    "ROUTE-02: only the provider named is called (%s)",
    async (_name, protocol) => {
      const { key } = world.gateway;
      expect(await countAnswers(key, { protocol, model: `${protocol.model}:second` })).toEqual({
        first: 0,
        second: 8,
        statuses: [200],
      });
      expect(await countAnswers(key, { protocol, model: `${protocol.model}:first` })).toEqual({
        first: 8,
        second: 0,
        statuses: [200],
      });
    },
  );

  it.each(eachProtocol)(
    "ROUTE-03: @price calls the cheaper provider first, and the other when it fails (%s)",
    async (_name, protocol) => {
      const { key } = world.gateway;
      const model = `${protocol.model}:@price`;
      expect(await countAnswers(key, { protocol, model })).toEqual({
        first: 8,
        second: 0,
        statuses: [200],
      });
      world.first.answer(failing);
      expect(await countAnswers(key, { protocol, model, calls: 2 })).toEqual({
        first: 2,
        second: 2,
        statuses: [200],
      });
    },
  );

  it("ROUTE-04: combined suffixes are refused at every endpoint, in the path too", async () => {
    for (const protocol of protocols) {
      for (const stream of [false, true]) {
        for (const suffix of [
          ":first:@price",
          ":@price:first",
          ":first:second",
          ":@price:@latency",
        ]) {
          const answer = await world.call(protocol, { model: protocol.model + suffix, stream });
          expect([protocol.name, suffix, answer.status]).toEqual([protocol.name, suffix, 400]);
          expect(errorCode(await answer.text())).toBe("invalid_model_suffix");
        }
      }
    }
    expect(world.first.requests.length + world.second.requests.length).toBe(0);
  });

  it("ROUTE-18 ROUTE-19: a suffix never overrides a pin: the pin holds under @price, and another provider is refused", async () => {
    const { key, id } = await tenant();
    await route(id, { pinnedProviders: ["second"] });
    await changeKey(context(), { id }, { allowRequestOverride: true });
    expect(await countAnswers(key, { model: "acme/chat:@price" })).toEqual({
      first: 0,
      second: 8,
      statuses: [200],
    });
    await changeKey(context(), { id }, { allowRequestOverride: false });
    expect(await countAnswers(key, { model: "acme/chat:second" })).toEqual({
      first: 0,
      second: 8,
      statuses: [200],
    });
    expect(await countAnswers(key, { model: "acme/chat:first" })).toEqual({
      first: 0,
      second: 0,
      statuses: [400],
    });
  });

  it("ROUTE-15 ROUTE-16 ROUTE-17: a key's own routing locks the strategy suffix, unless it allows the override", async () => {
    const { key, id } = await tenant();
    expect(await countAnswers(key, { model: "acme/chat:@price" })).toEqual({
      first: 8,
      second: 0,
      statuses: [200],
    });
    await route(id, { preferredProviders: ["second"] });
    expect(await countAnswers(key, { model: "acme/chat:@price" })).toEqual({
      first: 0,
      second: 0,
      statuses: [400],
    });
    await changeKey(context(), { id }, { allowRequestOverride: true });
    expect((await countAnswers(key, { model: "acme/chat:@price" })).statuses).toEqual([200]);
  });
});

describe("settings of a key and of the layers above", () => {
  it("ROUTE-01 ROUTE-06: strategy, pin and preference each choose the provider, and failover still works under a strategy", async () => {
    const { key, id } = await tenant();
    await route(id, { sort: "price" });
    expect(await countAnswers(key)).toEqual({ first: 8, second: 0, statuses: [200] });
    world.first.answer(failing);
    expect(await countAnswers(key, { calls: 2 })).toEqual({ first: 2, second: 2, statuses: [200] });
    world.answer(answering);
    await route(id, { sort: null, pinnedProviders: ["second"] });
    expect(await countAnswers(key)).toEqual({ first: 0, second: 8, statuses: [200] });
    await route(id, { pinnedProviders: [], preferredProviders: ["second"] });
    expect(await countAnswers(key)).toEqual({ first: 0, second: 8, statuses: [200] });
    // Without settings both providers are used: the price decides, but not alone.
    await changeKey(context(), { id }, { routing: null });
    // A few calls at a time, because the tenant's credit does not cover eighty concurrent reservations.
    const balanced = { first: 0, second: 0 };
    for (let round = 0; round < 10; round += 1) {
      const { first, second } = await countAnswers(key);
      balanced.first += first;
      balanced.second += second;
    }
    expect(balanced.first).toBeGreaterThan(balanced.second);
    expect(balanced.second).toBeGreaterThan(0);
  });

  it("ROUTE-05: a key that follows uses its workspace's routing, and a custom key its own", async () => {
    const { key, id, workspace } = await tenant();
    await changeWorkspace(context(), workspace.id, {
      routing: { mode: "custom", preferredProviders: ["second"] },
    });
    expect(await countAnswers(key)).toEqual({ first: 0, second: 8, statuses: [200] });
    await route(id, { preferredProviders: ["first"] });
    expect(await countAnswers(key)).toEqual({ first: 8, second: 0, statuses: [200] });
    await changeKey(context(), { id }, { routing: { mode: "follow" } });
    expect(await countAnswers(key)).toEqual({ first: 0, second: 8, statuses: [200] });
  });

  it("ROUTE-08: a call fails if its pinned provider is down, and the other provider is not called", async () => {
    const { key, id } = await tenant();
    await route(id, { pinnedProviders: ["first"] });
    world.first.answer(failing);
    const { second, statuses } = await countAnswers(key, { calls: 3 });
    expect({ second, statuses }).toEqual({ second: 0, statuses: [502] });
  });

  it("ROUTE-09: a model at none of the pinned providers is refused and not listed, and no provider is called", async () => {
    const { key, id } = await tenant();
    await route(id, { pinnedProviders: ["first"] });
    expect(await countAnswers(key, { model: "acme/community-only" })).toEqual({
      first: 0,
      second: 0,
      statuses: [403],
    });
    const listed = await (
      await world.gateway.get("/v1/models", { authorization: `Bearer ${key}` })
    ).text();
    expect(listed).toContain("acme/official-only");
    expect(listed).not.toContain("acme/community-only");
  });

  it("ROUTE-10 ROUTE-11: a preferred provider is tried first, but other providers may answer", async () => {
    const { key, id } = await tenant();
    await route(id, { preferredProviders: ["second", "nobody"] });
    expect(await countAnswers(key)).toEqual({ first: 0, second: 8, statuses: [200] });
    world.second.answer(failing);
    expect(await countAnswers(key, { calls: 2 })).toEqual({ first: 2, second: 2, statuses: [200] });
    world.answer(answering);
    expect(await countAnswers(key, { model: "acme/official-only" })).toEqual({
      first: 8,
      second: 0,
      statuses: [200],
    });
  });

  it("ROUTE-12 ROUTE-14: a key's constraints only narrow those of the layers above, for a custom key too", async () => {
    const { key, id, organization, workspace } = await tenant();
    await changeWorkspace(context(), workspace.id, {
      routing: { mode: "custom", supplyTiers: ["official"] },
    });
    await route(id, { supplyTiers: ["official", "partner", "community"] });
    expect(await countAnswers(key, { calls: 20 })).toEqual({
      first: 20,
      second: 0,
      statuses: [200],
    });
    await route(id, { supplyTiers: ["community"] });
    expect(await countAnswers(key)).toEqual({ first: 0, second: 0, statuses: [403] });
    await changeWorkspace(context(), workspace.id, { routing: null });
    await changeOrganization(context(), organization.id, {
      routing: { mode: "custom", pinnedProviders: ["first"] },
    });
    await route(id, { supplyTiers: [], pinnedProviders: ["first", "second"] });
    expect(await countAnswers(key, { calls: 20 })).toEqual({
      first: 20,
      second: 0,
      statuses: [200],
    });
  });

  it("ROUTE-13: with pins and preferences, the preferred pinned provider is first, then the other pinned one", async () => {
    const { key, id } = await tenant();
    await route(id, { pinnedProviders: ["first", "second"], preferredProviders: ["second"] });
    expect(await countAnswers(key)).toEqual({ first: 0, second: 8, statuses: [200] });
    world.second.answer(failing);
    expect(await countAnswers(key, { calls: 2 })).toEqual({ first: 2, second: 2, statuses: [200] });
    // A preferred provider that is not pinned is not used.
    await route(id, { pinnedProviders: ["second"], preferredProviders: ["first"] });
    expect(await countAnswers(key, { calls: 2 })).toMatchObject({ first: 0, statuses: [502] });
  });
});

describe("sessions", () => {
  /** Makes a call for each body. Returns the number of calls that each provider got. */
  async function spread(bodies: readonly object[]): Promise<number[]> {
    world.answer(answering);
    await Promise.all(
      bodies.map(async (extra) => {
        const answer = await world.call(responses, { extra });
        expect(answer.status).toBe(200);
        await answer.text();
      }),
    );
    return [world.first.requests.length, world.second.requests.length].sort(
      (one, other) => one - other,
    );
  }
  const times = (count: number, make: (index: number) => object) =>
    Array.from({ length: count }, (_one, index) => make(index));

  it("RESP-36: calls with the same user go to one provider; those of different users spread", async () => {
    for (const user of ["ada", "bob", "cy"]) {
      expect(await spread(times(20, () => ({ user })))).toEqual([0, 20]);
    }
    expect((await spread(times(40, (index) => ({ user: `user ${index}` }))))[0]).toBeGreaterThan(3);
  });

  it("RESP-37 RESP-38: prompt_cache_key overrides user: one value goes to one provider, different values spread", async () => {
    for (const prompt_cache_key of ["session 1", "session 2", "session 3"]) {
      expect(
        await spread(times(20, (index) => ({ prompt_cache_key, user: `user ${index}` }))),
      ).toEqual([0, 20]);
    }
    expect(
      (await spread(times(40, (index) => ({ prompt_cache_key: `key ${index}`, user: "ada" }))))[0],
    ).toBeGreaterThan(3);
  });

  it("RESP-45: safety_identifier does not keep calls at one provider", async () => {
    expect((await spread(times(60, () => ({ safety_identifier: "same" }))))[0]).toBeGreaterThan(0);
  });

  it("sessions of chat and of messages stay with one provider too", async () => {
    for (const [protocol, extra] of [
      [chat, { user: "ada" }],
      [chat, { prompt_cache_key: "session" }],
      [messages, { metadata: { user_id: "ada" } }],
    ] as const) {
      world.answer(answering);
      await Promise.all(
        times(20, () => extra).map(async (one) =>
          (await world.call(protocol, { extra: one })).text(),
        ),
      );
      expect([world.first.requests.length, world.second.requests.length]).toContain(20);
    }
  });

  it.each(eachProtocol)(
    "%s: a header names the session if the body names none",
    async (name, protocol) => {
      const calls = async (headersOf: (at: number) => Record<string, string>, extra = {}) => {
        // One provider is drawn for a fifth of the calls: among 30 random ones it is missing once in a thousand tries.
        world.answer(answering);
        const all = Array.from({ length: 80 }, (_one, at) => headersOf(at));
        await Promise.all(
          all.map(async (headers) => (await world.call(protocol, { extra, headers })).text()),
        );
        return Math.min(world.first.requests.length, world.second.requests.length);
      };
      for (const header of ["x-session-affinity", "x-session-id"]) {
        expect(await calls(() => ({ [header]: "ses_1" }))).toBe(0);
        expect(await calls((at) => ({ [header]: `ses_${at}` }))).toBeGreaterThan(0);
      }
      const both = (at: number) => ({ "x-session-id": `${at}`, "x-session-affinity": "ses_1" });
      expect(await calls(both)).toBe(0);
      for (const none of ["", "s".repeat(257)]) {
        const beside = { "x-session-affinity": none, "x-session-id": "ses_1" };
        expect(await calls(() => beside)).toBe(0);
      }
      // A name this long is no session's.
      expect(await calls(() => ({ "x-session-id": "s".repeat(257) }))).toBeGreaterThan(0);
      if (name === "generate_content") return;
      const own = name === "messages" ? { metadata: { user_id: "ada" } } : { user: "ada" };
      expect(await calls((at) => ({ "x-session-id": `ses_${at}` }), own)).toBe(0);
    },
  );
});
