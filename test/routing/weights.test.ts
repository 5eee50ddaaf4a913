/** The weights that operators give to a model's offers. */
import { describe, expect, it } from "vitest";
import type { Catalog, TextModel } from "../../src/catalog/index.ts";
import { openScope, parseModelId, plan } from "../../src/routing/index.ts";
import { catalogIn } from "../support/config-text.ts";

/** A catalogue of one model with the offers `provider: fields`. The first costs a hundred times as much as the last. */
function catalogOf(offers: Readonly<Record<string, string>>): Catalog {
  const names = Object.keys(offers);
  const providers = names.map(
    (id) =>
      `  - { id: ${id}, dialect: openai-compatible, base_url: "http://${id}/v1", api_key: none }`,
  );
  const rows = Object.entries(offers).map(
    ([id, fields], index) =>
      `      - { provider: ${id}, upstream_model: m, ${fields}, price: { input: "${100 / 10 ** index}", output: "1" } }`,
  );
  const text = ["providers:", ...providers, "models:", "  - id: acme/talk", "    kind: text"];
  const limits = ["    context_length: 1000", "    max_output_tokens: 100", "    offers:"];
  return catalogIn([...text, ...limits, ...rows].join("\n"));
}

/** The same uniform random numbers each time. */
function uniform(): () => number {
  let state = 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** The providers of one call, in the order in which they are tried. */
const providersOf = (
  catalog: Catalog,
  random: () => number,
  { text = "acme/talk", session }: { text?: string; session?: string | undefined } = {},
): string[] =>
  plan({
    catalog,
    entryPoint: "chat_completions",
    parsed: parseModelId(text),
    scope: openScope,
    session,
    random,
  }).offers.map(({ provider }) => provider);

/** How often each provider comes first in 20,000 calls with uniform random numbers. */
function shares(
  catalog: Catalog,
  text = "acme/talk",
  session: (call: number) => string | undefined = () => undefined,
): Record<string, number> {
  const counts: Record<string, number> = {};
  const random = uniform();
  const calls = 20_000;
  for (let call = 0; call < calls; call += 1) {
    const provider = providersOf(catalog, random, { text, session: session(call) })[0]!;
    counts[provider] = (counts[provider] ?? 0) + 1 / calls;
  }
  return counts;
}

describe("weights", () => {
  const chat = (weight: string) => `protocol: chat${weight}`;

  it("set the shares of the calls at any prices", () => {
    const found = shares(
      catalogOf({ a: chat(", weight: 7"), b: chat(", weight: 2"), c: chat("") }),
    );
    expect(found["a"]).toBeCloseTo(0.7, 1);
    expect(found["b"]).toBeCloseTo(0.2, 1);
    expect(found["c"]).toBeCloseTo(0.1, 1);
  });

  it("apply to an offer that needs a conversion too", () => {
    const found = shares(catalogOf({ a: chat(", weight: 1"), b: "protocol: messages, weight: 3" }));
    expect(found["b"]).toBeCloseTo(0.75, 1);
  });

  it("let an offer of weight 0 be tried only after all others have failed", () => {
    const weightless = chat(", weight: 0");
    const catalog = catalogOf({ a: chat(", weight: 1"), b: weightless, c: chat(", weight: 1") });
    const orders = new Set<string>();
    const random = uniform();
    for (let call = 0; call < 100; call += 1) orders.add(providersOf(catalog, random).join(" "));
    expect([...orders].sort()).toEqual(["a c b", "c a b"]);
    expect(providersOf(catalogOf({ a: weightless }), () => 0)).toEqual(["a"]);
  });

  const sessions = (call: number): string => `session ${call % 4_000}`;

  it("set the shares of the sessions too", () => {
    const catalog = catalogOf({ a: chat(", weight: 7"), b: chat(", weight: 2"), c: chat("") });
    const found = shares(catalog, "acme/talk", sessions);
    expect(found["a"]).toBeCloseTo(0.7, 1);
    expect(found["b"]).toBeCloseTo(0.2, 1);
    expect(found["c"]).toBeCloseTo(0.1, 1);
  });

  it("T43: hold a session to one of the protocols of a provider", () => {
    const catalog = catalogOf({ a: "protocol: messages, weight: 1" });
    const model = catalog.models.get("acme/talk") as TextModel;
    const both = { ...model.offers[0]!, protocol: "responses" as const, weight: 3 };
    const models = new Map([[model.id, { ...model, offers: [...model.offers, both] }]]);
    const firstOf = (session?: string) =>
      plan({
        catalog: { ...catalog, models },
        entryPoint: "chat_completions",
        parsed: parseModelId("acme/talk"),
        scope: openScope,
        session,
        random: Math.random,
      }).offers[0]!.protocol;
    const names = Array.from({ length: 1_000 }, (_unused, index) => `s${index}`);
    const firsts = names.map(firstOf);
    expect(names.map(firstOf)).toEqual(firsts);
    for (const drawn of [firsts, names.map(() => firstOf())]) {
      const share = drawn.filter((protocol) => protocol === "responses").length / 1_000;
      expect(share).toBeCloseTo(0.75, 1);
    }
  });

  it("keep all sessions from an offer if set to 0, even if it alone needs no conversion", () => {
    const catalog = catalogOf({ a: "protocol: messages, weight: 1", b: chat(", weight: 0") });
    expect(shares(catalog, "acme/talk", sessions)).toEqual({ a: expect.closeTo(1) as number });
  });

  it("are ignored if the request names another strategy", () => {
    const catalog = catalogOf({ a: chat(", weight: 9"), b: chat(", weight: 1") });
    expect(shares(catalog, "acme/talk:@price")).toEqual({ b: expect.closeTo(1) as number });
  });
});
