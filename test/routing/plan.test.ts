import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { supplyTiers } from "../../src/base/management.ts";
import { sandboxCatalog, textProtocols, type TextModel } from "../../src/catalog/index.ts";
import type { RoutingScope } from "../../src/routing/index.ts";
import { catalogOf, namesOf, offer, planOf, refusal, scoped, three } from "./support.ts";

describe("constraints", () => {
  it("an unknown model is 404, and so is a prefix of a model's id", () => {
    const notFound = { code: "model_not_found", status: 404, param: "model" };
    expect(refusal(() => planOf(three, "acme/other"))).toEqual(notFound);
    expect(refusal(() => planOf(three, "acme/tal"))).toEqual(notFound);
  });

  it("an entry point the model does not offer is 400 unsupported_protocol", () => {
    const act = () => planOf(three, "acme/talk", { entryPoint: "responses" });
    expect(refusal(act)).toEqual({ code: "unsupported_protocol", status: 400, param: "model" });
  });

  it("a media model is not callable through a text entry point", () => {
    const act = () => planOf(sandboxCatalog("http://s"), "sandbox/video-model-v1");
    expect(refusal(act).code).toBe("unsupported_protocol");
  });

  it("every non-empty allowlist must contain the model: 403 otherwise", () => {
    const both = scoped({ modelAllowlists: [["acme/talk", "x/y"], [], ["acme/talk"]] });
    expect(namesOf(three, "acme/talk", both)).toHaveLength(3);
    const one = scoped({ modelAllowlists: [["acme/talk"], ["x/y"]] });
    const expected = { code: "model_not_allowed", status: 403, param: "model" };
    expect(refusal(() => planOf(three, "acme/talk", one))).toEqual(expected);
  });

  it("a provider of an excluded tier is not a candidate, even if another layer allows the tier", () => {
    const narrow = scoped({ supplyTiers: [["official"], ["official", "community"]] });
    expect(namesOf(three, "acme/talk:@price", narrow)).toEqual(["b", "a"]);
  });

  it("pins leave only the providers that are in every layer's pins; with none left, the call is 403", () => {
    const pins = scoped({
      pinnedProviders: [
        ["a", "b"],
        ["b", "c"],
      ],
    });
    expect(namesOf(three, "acme/talk", pins)).toEqual(["b"]);
    const disjoint = scoped({ pinnedProviders: [["a"], ["b"]] });
    expect(refusal(() => planOf(three, "acme/talk", disjoint)).code).toBe("model_not_allowed");
  });

  it("a provider suffix selects that provider, but only inside the scope", () => {
    expect(namesOf(three, "acme/talk:a")).toEqual(["a"]);
    const pins = scoped({ pinnedProviders: [["b"]], locked: true });
    expect(namesOf(three, "acme/talk:b", pins)).toEqual(["b"]);
    const expected = { code: "provider_not_found", status: 400, param: "model" };
    expect(refusal(() => planOf(three, "acme/talk:a", pins))).toEqual(expected);
    expect(refusal(() => planOf(three, "acme/talk:nobody"))).toEqual(expected);
  });

  it("a locked scope refuses the strategy suffix; an unlocked one accepts it within its pins", () => {
    const locked = scoped({ pinnedProviders: [["a", "c"]], locked: true });
    const expected = { code: "routing_locked", status: 400, param: "model" };
    expect(refusal(() => planOf(three, "acme/talk:@price", locked))).toEqual(expected);
    const open = scoped({ pinnedProviders: [["a", "c"]] });
    expect(namesOf(three, "acme/talk:@price", open)).toEqual(["c", "a"]);
  });
});

describe("order", () => {
  it("price: cheapest first", () => {
    expect(namesOf(three, "acme/talk:@price")).toEqual(["b", "c", "a"]);
    expect(namesOf(three, "acme/talk", scoped({ sort: "price" }))).toEqual(["b", "c", "a"]);
  });

  it("price: between equal prices, the offer that needs no conversion goes first", () => {
    const catalog = catalogOf([offer("a", "1"), offer("b", "1", "messages")]);
    const messages = { entryPoint: "messages" } as const;
    expect(namesOf(catalog, "acme/talk:@price", messages)).toEqual(["b", "a"]);
  });

  it("balanced: half the price is four times the weight", () => {
    const catalog = catalogOf([offer("a", "2"), offer("b", "1")]);
    let state = 7;
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    let cheap = 0;
    for (let call = 0; call < 4_000; call += 1) {
      if (namesOf(catalog, "acme/talk", { random })[0] === "b") cheap += 1;
    }
    expect(cheap / 4_000).toBeGreaterThan(0.77);
    expect(cheap / 4_000).toBeLessThan(0.83);
  });

  it("balanced: an offer that needs no conversion goes before one that does", () => {
    const multi = sandboxCatalog("http://s");
    for (const [entryPoint, protocol] of [
      ["chat_completions", "chat"],
      ["responses", "responses"],
      ["messages", "messages"],
      ["generate_content", "generate_content"],
    ] as const) {
      const { offers } = planOf(multi, "sandbox/multi", { entryPoint, random: Math.random });
      expect(offers[0]!.protocol).toBe(protocol);
      expect(offers).toHaveLength(4);
    }
  });

  it("preferred providers go first at any price, and the others follow", () => {
    const scope = scoped({ preferredProviders: ["a", "elsewhere"], sort: "price" });
    expect(namesOf(three, "acme/talk", scope)).toEqual(["a", "b", "c"]);
    const none = scoped({ preferredProviders: ["elsewhere"], sort: "price" });
    expect(namesOf(three, "acme/talk", none)).toEqual(["b", "c", "a"]);
    const pinned = scoped({ pinnedProviders: [["a", "b"]], preferredProviders: ["a"] });
    expect(namesOf(three, "acme/talk", pinned)).toEqual(["a", "b"]);
  });

  it("T43: the same session picks the same provider, even under sort by price; different values spread", () => {
    const firsts = new Map<string, Set<string>>();
    for (let call = 0; call < 600; call += 1) {
      const session = `session-${call % 30}`;
      const extra = { session, random: Math.random, ...scoped({ sort: "price" }) };
      const first = namesOf(three, "acme/talk", extra)[0]!;
      firsts.set(session, (firsts.get(session) ?? new Set()).add(first));
    }
    expect([...firsts.values()].every((seen) => seen.size === 1)).toBe(true);
    const all = new Set([...firsts.values()].flatMap((seen) => [...seen]));
    expect([...all].sort()).toEqual(["a", "b", "c"]);
  });

  it("when a provider leaves, only its own sessions move", () => {
    const two = catalogOf([offer("a", "3"), offer("b", "1")]);
    const moved: string[] = [];
    for (let at = 0; at < 50; at += 1) {
      const session = `session-${at}`;
      const [before] = namesOf(three, "acme/talk", { session });
      const [after] = namesOf(two, "acme/talk", { session });
      moved.push(before === after ? "stays" : `leaves ${before}`);
    }
    expect([...new Set(moved)].sort()).toEqual(["leaves c", "stays"]);
  });

  it("T43: a session stays with an offer that needs no conversion, if there is one", () => {
    const multi = sandboxCatalog("http://s");
    const protocols = Array.from({ length: 30 }, (_unused, at) => {
      const extra = { entryPoint: "messages", session: `s${at}` } as const;
      return planOf(multi, "sandbox/multi", extra).offers[0]!.protocol;
    });
    expect(new Set(protocols)).toEqual(new Set(["messages"]));
  });

  it("T43: calls keep to one of the protocols of a provider, in its order, whatever the strategy", () => {
    const one = catalogOf([offer("a", "2", "responses"), offer("a", "2", "chat")]);
    for (const strategy of ["", ":@price", ":@latency", ":@throughput"]) {
      for (const session of [undefined, "s1", "s2"]) {
        const firsts = Array.from({ length: 20 }, () => {
          const extra = { entryPoint: "messages", session, random: Math.random } as const;
          return planOf(one, `acme/talk${strategy}`, extra).offers[0]!.protocol;
        });
        expect(new Set(firsts)).toEqual(new Set(["responses"]));
      }
    }
  });

  it("balanced: a provider with two protocols gets no more calls than one with one", () => {
    const two = catalogOf([offer("a", "2", "responses"), offer("a", "2"), offer("b", "2")]);
    const firsts = Array.from({ length: 2_000 }, () => {
      const extra = { entryPoint: "messages", random: Math.random } as const;
      return namesOf(two, "acme/talk", extra)[0];
    });
    expect(firsts.filter((name) => name === "b").length / 2_000).toBeCloseTo(0.5, 1);
  });

  it("a session never overrules a preference", () => {
    for (let at = 0; at < 20; at += 1) {
      const extra = { session: `s${at}`, ...scoped({ preferredProviders: ["a"] }) };
      expect(namesOf(three, "acme/talk", extra)[0]).toBe("a");
    }
  });
});

describe("explanation", () => {
  it("lists each offer, the reason for its exclusion, and the order, as plain JSON", () => {
    const extra = { session: "s", ...scoped({ supplyTiers: [["official"]] }) };
    const { explanation } = planOf(three, "acme/talk:a", extra);
    expect(structuredClone(explanation)).toEqual(JSON.parse(JSON.stringify(explanation)));
    expect(explanation).toEqual({
      model: "acme/talk",
      entry_point: "chat_completions",
      strategy: "balanced",
      strategy_source: "default",
      pinned_by_request: "a",
      affinity_provider: "a",
      offers: [
        { provider: "a", protocol: "chat", tier: "official", standard_price_nano: "12000000" },
        {
          provider: "b",
          protocol: "chat",
          tier: "official",
          standard_price_nano: "4000000",
          excluded: "not the provider the request names",
        },
        {
          provider: "c",
          protocol: "chat",
          tier: "community",
          standard_price_nano: "8000000",
          excluded: "outside the supply tiers of the scope",
        },
      ],
      order: ["a/chat"],
    });
  });
});

const providerNames = ["a", "b", "c", "d"];
const anyLayers = <Value>(value: fc.Arbitrary<Value>) =>
  fc.array(fc.uniqueArray(value, { maxLength: 3 }), { maxLength: 3 });
const anyScope: fc.Arbitrary<RoutingScope> = fc.record({
  modelAllowlists: anyLayers(fc.constantFrom("acme/talk", "x/y")),
  supplyTiers: anyLayers(fc.constantFrom<string>(...supplyTiers)),
  pinnedProviders: anyLayers(fc.constantFrom(...providerNames)),
  preferredProviders: fc.uniqueArray(fc.constantFrom(...providerNames), { maxLength: 2 }),
  sort: fc.constantFrom(null, "price", "latency", "throughput", "balanced"),
  locked: fc.boolean(),
});
const anyCatalog = fc
  .tuple(
    fc.array(
      fc.record({
        name: fc.constantFrom(...providerNames),
        usd: fc.integer({ min: 0, max: 20 }),
        protocol: fc.constantFrom(...textProtocols),
      }),
      { minLength: 1, maxLength: 6 },
    ),
    fc.tuple(...providerNames.map(() => fc.constantFrom(...supplyTiers))),
  )
  .map(([offers, tiers]) =>
    catalogOf(
      offers.map((each) => offer(each.name, String(each.usd), each.protocol)),
      Object.fromEntries(providerNames.map((name, index) => [name, tiers[index]!])),
    ),
  );

describe("a random plan", () => {
  it("T74: contains exactly the offers that all constraints allow, for any preference and session", () => {
    const cases = fc.record({
      catalog: anyCatalog,
      scope: anyScope,
      suffix: fc.constantFrom("", ":a", ":b", ":@price", ":@latency", ":@balanced"),
      session: fc.option(fc.string(), { nil: undefined }),
      dice: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 8 }),
    });
    fc.assert(
      fc.property(cases, ({ catalog, scope, suffix, session, dice }) => {
        let roll = 0;
        const random = () => dice[roll++ % dice.length]!;
        const holds = (layers: readonly (readonly string[])[], value: string) =>
          layers.every((layer) => layer.length === 0 || layer.includes(value));
        const model = catalog.models.get("acme/talk") as TextModel;
        const inside = model.offers.filter(
          (each) =>
            holds(scope.modelAllowlists, model.id) &&
            holds(scope.pinnedProviders, each.provider) &&
            holds(scope.supplyTiers, catalog.providers.get(each.provider)!.tier) &&
            (!/^:[ab]$/.test(suffix) || suffix === `:${each.provider}`),
        );
        const locked = scope.locked && suffix.includes("@");
        const act = () => planOf(catalog, `acme/talk${suffix}`, { scope, session, random });
        if (locked || inside.length === 0) return refusal(act).status !== 200;
        const planned = act().offers;
        expect(new Set(planned)).toEqual(new Set(inside));
        expect(planned).toHaveLength(inside.length);
        const preferred = planned.map((each) => scope.preferredProviders.includes(each.provider));
        expect(preferred).toEqual([...preferred].sort((left, right) => +right - +left));
        return true;
      }),
    );
  });
});
