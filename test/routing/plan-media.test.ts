/** Plans of image and video calls: the order by price, by weight and by measurements, and the reasons. ROUTE rows. */
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import {
  Health,
  mediaModel,
  openScope,
  parseModelId,
  planMedia,
  type MediaPlanInput,
  type RoutingScope,
} from "../../src/routing/index.ts";
import { catalogIn } from "../support/config-text.ts";

const names = ["a", "b", "c"];
const offer = (provider: string) =>
  `{ provider: ${provider}, upstream_model: m, price: { input: "1", image_input: "1", output: "1", image_output: "1" } }`;
const config = [
  "providers:",
  ...names.map(
    (id) =>
      `  - { id: ${id}, dialect: openai, base_url: "http://${id}/v1", api_key: none, tier: community }`,
  ),
  "models:",
  `  - { id: acme/paint, kind: image, family: image-a, offers: [${names.map(offer).join(", ")}] }`,
].join("\n");
const catalog = catalogIn(config);

/** The upper bound of a request's cost at each provider. */
const bounds: Record<string, bigint> = { a: 30n, b: 10n, c: 20n };
let health: Health;
beforeEach(() => {
  health = new Health({ clock: systemClock, nowMs: () => 0, random: () => 0 });
});

function planned(
  id: string,
  extra: Partial<MediaPlanInput> = {},
  scope: Partial<RoutingScope> = {},
) {
  const target = {
    catalog,
    entryPoint: "images_generations" as const,
    parsed: parseModelId(id),
    scope: { ...openScope, ...scope },
  };
  return planMedia({
    ...target,
    model: mediaModel(target),
    bound: ({ provider }) => bounds[provider]!,
    random: () => 0.5,
    health,
    ...extra,
  });
}
const orderOf = (...of: Parameters<typeof planned>) => planned(...of).explanation.order.join("");

describe("the order", () => {
  it("price: by the upper bound of the request's cost", () => {
    expect(orderOf("acme/paint:@price")).toBe("bca");
  });

  it("balanced: half the price is four times as likely", () => {
    let state = 1;
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    const first = Array.from({ length: 2_000 }, () => orderOf("acme/paint", { random })[0]);
    const share = (name: string) => first.filter((one) => one === name).length / first.length;
    // The weights are 1/9, 1 and 1/4.
    expect(share("a")).toBeCloseTo(0.08, 1);
    expect(share("b")).toBeCloseTo(0.73, 1);
    expect(share("c")).toBeCloseTo(0.18, 1);
  });

  it("latency: by measured durations, which do not change the order by price", () => {
    for (const [index, name] of ["a", "c", "b"].entries()) {
      const provider = catalog.providers.get(name)!;
      const model = catalog.models.get("acme/paint")!;
      const offer = model.offers.find((one) => one.provider === name)!;
      const attempt = { provider, offer, credential: provider.credentials[0]!, begunMs: 0 };
      const firstTokenMs = 1_000 * (index + 1);
      health.succeeded(attempt, {
        stream: false,
        firstTokenMs,
        durationMs: firstTokenMs,
        outputTokens: undefined,
      });
    }
    expect(orderOf("acme/paint:@latency")).toBe("acb");
    expect(orderOf("acme/paint:@price")).toBe("bca");
  });

  it("preferred providers come first, and both groups keep the strategy's order", () => {
    expect(orderOf("acme/paint:@price", {}, { preferredProviders: ["a", "c"] })).toBe("cab");
  });
});

describe("the explanation", () => {
  it("names each offer's tier, and its cost bound or the reason for its exclusion", () => {
    const { explanation } = planned("acme/paint:a", {
      exclusion: ({ provider }) => (provider === "b" ? "it has no masks" : undefined),
    });
    expect(explanation).toEqual({
      model: "acme/paint",
      entry_point: "images_generations",
      strategy: "balanced",
      strategy_source: "default",
      pinned_by_request: "a",
      offers: [
        { provider: "a", tier: "community", bound_nano: "30" },
        { provider: "b", tier: "community", excluded: "it has no masks" },
        { provider: "c", tier: "community", excluded: "not the provider the request names" },
      ],
      order: ["a"],
    });
  });

  it("a call is refused if it names a provider outside the key's scope, or if no provider is left", () => {
    const scope = { pinnedProviders: [["b", "c"]] };
    expect(orderOf("acme/paint:@price", {}, scope)).toBe("bc");
    expect(() => planned("acme/paint:a", {}, scope)).toThrow(
      '"a" does not serve the model "acme/paint" to this key. These do: b, c.',
    );
    expect(() => planned("acme/paint", { exclusion: () => "no" })).toThrow(
      "No provider of the model",
    );
  });
});
