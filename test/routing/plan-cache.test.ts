/** Plans are cached if only the request decides them, and computed each time otherwise. */
import { describe, expect, it } from "vitest";
import { sandboxCatalog, type Catalog, type TextModel } from "../../src/catalog/index.ts";
import { openScope, parseModelId, plan, type PlanInput } from "../../src/routing/index.ts";

const catalog = sandboxCatalog("http://s");
const model = catalog.models.get("sandbox/chat") as TextModel;
const [first] = model.offers;
const withOffers = (offers: TextModel["offers"]): Catalog => ({
  providers: new Map([
    ...catalog.providers,
    ["other", { ...catalog.providers.get(first!.provider)!, id: "other" }],
  ]),
  models: new Map([[model.id, { ...model, offers }]]),
});
const one = withOffers([first!]);
const two = withOffers([first!, { ...first!, provider: "other" }]);

const planOf = (text: string, extra: Partial<PlanInput<"chat_completions">> = {}) =>
  plan({
    catalog: one,
    entryPoint: "chat_completions",
    parsed: parseModelId(text),
    scope: openScope,
    random: () => 0.5,
    ...extra,
  });

describe("a cached plan", () => {
  it("is reused for the same request if one offer is left", () => {
    expect(planOf("sandbox/chat")).toBe(planOf("sandbox/chat"));
    const pinned = planOf("sandbox/chat:other", { catalog: two });
    expect(planOf("sandbox/chat:other", { catalog: two })).toBe(pinned);
  });

  it("is not reused for another catalogue or another scope", () => {
    const planned = planOf("sandbox/chat");
    const changed = withOffers([{ ...first!, provider: "other" }]);
    expect(planOf("sandbox/chat", { catalog: changed }).offers[0]?.provider).toBe("other");
    expect(planOf("sandbox/chat", { scope: { ...openScope } })).not.toBe(planned);
    const scope = { ...openScope, pinnedProviders: [["other"]] };
    expect(() => planOf("sandbox/chat", { scope })).toThrow("inside the routing scope");
  });

  it("differs by suffix and by session", () => {
    expect(planOf("sandbox/chat").explanation).not.toHaveProperty("affinity_provider");
    const held = planOf("sandbox/chat", { session: "me" });
    expect(held.explanation.affinity_provider).toBe(first!.provider);
    const pinned = planOf(`sandbox/chat:${first!.provider}`);
    expect(pinned.explanation.pinned_by_request).toBe(first!.provider);
    expect(planOf("sandbox/chat:@price").explanation.strategy).toBe("price");
    expect(planOf("sandbox/chat").explanation.strategy).toBe("balanced");
  });

  it("is not used if two offers are left, because chance decides each time", () => {
    const planned = planOf("sandbox/chat", { catalog: two });
    expect(planOf("sandbox/chat", { catalog: two })).not.toBe(planned);
  });
});
