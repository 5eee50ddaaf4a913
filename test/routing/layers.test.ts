/**
 * Random layers above a key, random suffixes, sessions and failures. The key may call exactly what all layers allow together:
 * never more than any layer allows, and never less. ALLOW and ROUTE rows; T74.
 */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { GatewayError } from "../../src/base/errors.ts";
import { supplyTiers, type SupplyTier } from "../../src/base/management.ts";
import {
  defaultTimeouts,
  type Catalog,
  type MediaOffer,
  type Model,
  type Provider,
  type TextOffer,
} from "../../src/catalog/index.ts";
import {
  Health,
  mediaModel,
  modelsFor,
  parseModelId,
  permits,
  plan,
  planMedia,
} from "../../src/routing/index.ts";
import { routingScope, type Caller, type ScopeLayer } from "../../src/tenancy/index.ts";

const providerIds = ["a", "b", "c", "d"] as const;
const textId = "acme/talk";
const mediaId = "acme/clip";
const modelIds = [textId, mediaId];

const some = <Value extends string>(...values: Value[]) =>
  fc.uniqueArray(fc.constantFrom(...values), { maxLength: 3 });

const anyLayer: fc.Arbitrary<ScopeLayer> = fc.record({
  modelAllowlist: some(...modelIds, "x/y"),
  routing: fc.record({
    mode: fc.constantFrom("follow", "custom"),
    sort: fc.constantFrom(null, "price", "latency", "throughput", "balanced"),
    supplyTiers: some(...supplyTiers),
    pinnedProviders: some(...providerIds, "gone"),
    preferredProviders: some(...providerIds),
  }),
});

const anyCaller = fc.record({
  organization: fc.option(anyLayer),
  workspace: anyLayer,
  key: anyLayer,
  allowRequestOverride: fc.boolean(),
});

const anyCase = fc.record({
  layers: anyCaller,
  tiers: fc.tuple(...providerIds.map(() => fc.constantFrom<SupplyTier>(...supplyTiers))),
  /** The providers of each model; at least one. */
  serving: fc.uniqueArray(fc.constantFrom(...providerIds), { minLength: 1 }),
  down: some(...providerIds),
  suffix: fc.constantFrom(
    "",
    ...providerIds.map((id) => `:${id}`),
    ":@price",
    ":@latency",
    ":@balanced",
  ),
  session: fc.option(fc.string(), { nil: undefined }),
  draw: fc.double({ min: 0, max: 0.999, noNaN: true }),
});
type Case = typeof anyCase extends fc.Arbitrary<infer Value> ? Value : never;

const rate = 1_000_000_000n;
const textOffer = (provider: string): TextOffer => ({
  provider,
  protocol: "chat",
  upstreamModel: "up",
  price: { input: rate, output: rate },
});
const mediaOffer = (provider: string): MediaOffer => ({
  provider,
  upstreamModel: "up-video",
  price: { basis: "video_tokens", outputVideoToken: rate },
  streaming: false,
});

function catalogOf({ tiers, serving }: Case): Catalog {
  const providers = providerIds.map((id, index): [string, Provider] => [
    id,
    {
      id,
      dialect: "ark",
      baseUrl: `http://${id}`,
      tier: tiers[index]!,
      credentials: [{ id: "only", apiKey: "", weight: 1 }],
      onDisconnect: "abort",
      timeouts: defaultTimeouts,
    },
  ]);
  const models: Model[] = [
    {
      id: textId,
      kind: "text",
      created: 0,
      endpoints: ["chat_completions"],
      contextLength: 1_000,
      maxOutputTokens: 100,
      reserveOutputTokens: 100,
      parameters: {},
      offers: serving.map(textOffer),
    },
    {
      id: mediaId,
      kind: "video",
      family: "video-tokens",
      created: 0,
      endpoints: ["tasks"],
      offers: serving.map(mediaOffer),
    },
  ];
  return {
    providers: new Map(providers),
    models: new Map(models.map((model) => [model.id, model])),
  };
}

const callerOf = (layers: Case["layers"]): Caller => ({
  keyId: "key_1",
  workspaceId: "ws_1",
  organizationId: layers.organization === null ? null : "org_1",
  memberId: null,
  keyRotation: 0,
  expiresAt: null,
  limits: [],
  responseCache: null,
  keepBodies: "off",
  ...layers,
});

/** The rule of one layer, implemented again: an empty list allows all, and only a layer with custom routing has its own rules. */
function layerAllows(layer: ScopeLayer, model: string, provider: Provider): boolean {
  const allows = (list: readonly string[], value: string) =>
    list.length === 0 || list.includes(value);
  const { mode, supplyTiers: tiers, pinnedProviders } = layer.routing;
  const routed =
    mode === "follow" || (allows(tiers, provider.tier) && allows(pinnedProviders, provider.id));
  return allows(layer.modelAllowlist, model) && routed;
}

/** A health in which these providers have failed all their calls. */
function healthOf(catalog: Catalog, down: readonly string[]): Health {
  const health = new Health({ clock: systemClock });
  for (const id of down)
    for (const upstreamModel of ["up", "up-video"])
      for (let count = 0; count < 5; count += 1) {
        const provider = catalog.providers.get(id)!;
        const attempt = {
          provider,
          offer: { provider: id, upstreamModel },
          credential: provider.credentials[0]!,
          begunMs: health.nowMs(),
        };
        health.unanswered(attempt, { hurtsHealth: true });
      }
  return health;
}

/** The providers that would be asked for a model, including fallbacks, or the code of the refusal. */
function triedFor(id: string, catalog: Catalog, one: Case): readonly string[] | string {
  const scope = routingScope(callerOf(one.layers));
  const about = {
    catalog,
    scope,
    parsed: parseModelId(id + one.suffix),
    random: () => one.draw,
    health: healthOf(catalog, one.down),
  };
  try {
    if (id === textId) {
      const { session } = one;
      return plan({ ...about, entryPoint: "chat_completions", session }).offers.map(
        ({ provider }) => provider,
      );
    }
    const target = { ...about, entryPoint: "tasks" };
    const media = planMedia({ ...target, model: mediaModel(target), bound: () => 1n });
    const { constraints } = media;
    // The constraints that a task stores for its attempts agree.
    for (const { id: provider } of catalog.providers.values())
      expect(permits(constraints, catalog, id, provider)).toBe(
        permits(scope, catalog, id, provider),
      );
    return media.offers.map(({ provider }) => provider);
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

const layersOf = ({ organization, workspace, key }: Case["layers"]): ScopeLayer[] =>
  [organization, workspace, key].filter((layer) => layer !== null);

const runs = { numRuns: 1_000 };

it.each(modelIds)(
  "T74: no provider that a layer excludes is tried for %s, for any suffix, pin, session and failures",
  (id) => {
    fc.assert(
      fc.property(anyCase, (one) => {
        const catalog = catalogOf(one);
        const layers = layersOf(one.layers);
        const allowed = one.serving.filter((provider) =>
          layers.every((layer) => layerAllows(layer, id, catalog.providers.get(provider)!)),
        );
        const tried = triedFor(id, catalog, one);
        const scope = routingScope(callerOf(one.layers));
        for (const provider of typeof tried === "string" ? [] : tried) {
          expect(allowed).toContain(provider);
          expect(permits(scope, catalog, id, provider)).toBe(true);
        }
        // Each refusal has its reason, and there is none without a reason.
        const pinned = /^:[a-d]$/.test(one.suffix) ? one.suffix.slice(1) : undefined;
        const strategy = one.suffix.startsWith(":@");
        const { key, allowRequestOverride } = one.layers;
        const isLocked = strategy && key.routing.mode === "custom" && !allowRequestOverride;
        const isModelOut = layers.some(
          ({ modelAllowlist }) => modelAllowlist.length > 0 && !modelAllowlist.includes(id),
        );
        let expected: string | undefined;
        if (isModelOut) expected = "model_not_allowed";
        else if (isLocked) expected = "routing_locked";
        else if (allowed.length === 0) expected = "model_not_allowed";
        else if (pinned !== undefined && !(allowed as string[]).includes(pinned))
          expected = "provider_not_found";
        expect(typeof tried === "string" ? tried : undefined).toBe(expected);
      }),
      runs,
    );
  },
);

it("ALLOW-03 ROUTE-12: a key can call no more than each layer above it allows by itself", () => {
  const open: ScopeLayer = {
    modelAllowlist: [],
    routing: {
      mode: "follow",
      sort: null,
      supplyTiers: [],
      pinnedProviders: [],
      preferredProviders: [],
    },
  };
  const callable = (one: Case, layers: Case["layers"]) => {
    const catalog = catalogOf(one);
    return modelsFor(catalog, routingScope(callerOf(layers))).flatMap(({ model, offers }) =>
      offers.map(({ provider }) => `${model.id} at ${provider}`),
    );
  };
  fc.assert(
    fc.property(anyCase, (one) => {
      const all = callable(one, one.layers);
      const { organization, workspace } = one.layers;
      for (const above of [
        { ...one.layers, key: open },
        { ...one.layers, key: open, workspace: open, organization },
        { ...one.layers, key: open, workspace, organization: null },
      ])
        expect(callable(one, above)).toEqual(expect.arrayContaining(all));
    }),
    runs,
  );
});
