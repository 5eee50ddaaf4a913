/** Paused providers, and previews of a call's plan without a call. docs/routing.md. */
import { describe, expect, it } from "vitest";
import { sandboxCatalog, type Catalog } from "../../src/catalog/index.ts";
import { openScope, parseModelId, previewPlan } from "../../src/routing/index.ts";
import { namesOf, planOf, refusal, scoped, three } from "./support.ts";

describe("paused providers", () => {
  const untilMs = Date.UTC(2026, 10, 23);
  const paused = (...ids: string[]): Catalog => ({
    ...three,
    paused: new Map(ids.map((id) => [id, untilMs])),
  });

  it("are no candidates, and the plan says until when", () => {
    expect(namesOf(paused(), "acme/talk:@price")).toEqual(["b", "c", "a"]);
    const { offers, explanation } = planOf(paused("b"), "acme/talk:@price");
    expect(offers.map((each) => each.provider)).toEqual(["c", "a"]);
    const why = Object.fromEntries(
      explanation.offers.map(({ provider: id, excluded }) => [id, excluded]),
    );
    expect(why).toEqual({ a: undefined, b: "paused until 2026-11-23T00:00:00.000Z", c: undefined });
  });

  it("keep the scope's reason if the scope excludes them anyway", () => {
    const { explanation } = planOf(
      paused("c"),
      "acme/talk",
      scoped({ supplyTiers: [["official"]] }),
    );
    const kept = explanation.offers.find(({ provider: id }) => id === "c");
    expect(kept!.excluded).toBe("outside the supply tiers of the scope");
  });

  it("lead to 503 if there is no other provider", () => {
    expect(refusal(() => planOf(paused("a", "b", "c"), "acme/talk"))).toMatchObject({
      code: "no_provider_available",
      status: 503,
    });
    expect(refusal(() => planOf(paused("a"), "acme/talk:a")).code).toBe("no_provider_available");
  });
});

describe("a preview", () => {
  const previewOf = (catalog: Catalog, text: string, extra: object = {}) =>
    previewPlan({ catalog, parsed: parseModelId(text), scope: openScope, ...extra });

  it("is the plan of a call at the model's first entry point, the same each time", () => {
    const made = previewOf(three, "acme/talk");
    expect(made.refused).toBeNull();
    expect(made.plan.entry_point).toBe("chat_completions");
    // The cheapest is the likeliest, so it is first.
    expect(made.plan.order).toEqual(["b/chat", "c/chat", "a/chat"]);
    for (let times = 0; times < 20; times += 1) expect(previewOf(three, "acme/talk")).toEqual(made);
    expect(previewOf(three, "acme/talk", { entryPoint: "messages" }).plan.entry_point).toBe(
      "messages",
    );
  });

  it("says why a call would be refused, and why each provider is excluded", () => {
    const until = Date.UTC(2026, 10, 23);
    const catalog = { ...three, paused: new Map([["a", until]]) };
    const { plan: shown, refused } = previewOf(
      catalog,
      "acme/talk",
      scoped({ supplyTiers: [["official"]], pinnedProviders: [["a"]] }),
    );
    expect([refused!.code, shown.model, shown.order]).toEqual([
      "no_provider_available",
      "acme/talk",
      [],
    ]);
    expect(shown.offers.map(({ provider: id, excluded }) => [id, excluded])).toEqual([
      ["a", "paused until 2026-11-23T00:00:00.000Z"],
      ["b", "not among the pinned providers"],
      ["c", "outside the supply tiers of the scope"],
    ]);
    const open = scoped({ modelAllowlists: [["x/y"]] });
    const others = previewOf(three, "acme/talk", open).plan.offers;
    expect(others.map((each) => "excluded" in each)).toEqual([false, false, false]);
  });

  it("throws for an unknown or a video model, and for an internal error, instead of reporting a refusal", () => {
    expect(refusal(() => previewOf(three, "acme/other")).code).toBe("model_not_found");
    const videos = sandboxCatalog("http://s");
    expect(refusal(() => previewOf(videos, "sandbox/video-model-v1")).code).toBe(
      "unsupported_protocol",
    );
    expect(() => previewOf(three, "acme/talk", { scope: undefined })).toThrow(TypeError);
  });
});
