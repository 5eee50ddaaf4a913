/**
 * The models and providers that a caller may use: constraints of all layers above it, and its preferences. ROUTE-05 to ROUTE-19, MODELS-01
 * to MODELS-06.
 */
import { GatewayError } from "../base/errors.ts";
import { memoizeByObject } from "../base/memoize.ts";
import type {
  Catalog,
  EmbeddingModel,
  ImageModel,
  MediaOffer,
  Model,
  Offer,
  Provider,
  TextModel,
  VideoModel,
} from "../catalog/index.ts";
import type { Strategy } from "./model-id.ts";

/**
 * A caller's routing scope, as a plain value. Each constraint is a list of lists, one per layer (organization, workspace, key). An empty
 * list does not constrain. All others must hold, so a layer can only narrow the layers above it.
 */
export interface RoutingScope {
  readonly modelAllowlists: readonly (readonly string[])[];
  readonly supplyTiers: readonly (readonly string[])[];
  readonly pinnedProviders: readonly (readonly string[])[];
  /** Tried first; never makes a model uncallable. */
  readonly preferredProviders: readonly string[];
  /** The strategy of the nearest layer that sets one; null: the default. */
  readonly sort: Strategy | null;
  /** True if the key has its own routing and a request may not override the strategy. */
  readonly locked: boolean;
}

/** The part of a scope that no attempt may go beyond. */
export type Constraints = Pick<RoutingScope, "modelAllowlists" | "supplyTiers" | "pinnedProviders">;

/** The scope of a caller without constraints. */
export const openScope: RoutingScope = {
  modelAllowlists: [],
  supplyTiers: [],
  pinnedProviders: [],
  preferredProviders: [],
  sort: null,
  locked: false,
};

/** A list with more names is searched by a set: an allowlist may have ten thousand, and is asked for each model of the catalogue. */
const shortMax = 16;
const namesIn = memoizeByObject((list: readonly string[]) => new Set(list));

const holds = (list: readonly string[], value: string): boolean =>
  list.length > shortMax ? namesIn(list).has(value) : list.includes(value);

const passes = (layers: readonly (readonly string[])[], value: string): boolean =>
  layers.every((layer) => layer.length === 0 || holds(layer, value));

/** True if the allowlists of all layers contain the model, whatever the provider. */
export function modelAllowed(scope: RoutingScope, modelId: string): boolean {
  return passes(scope.modelAllowlists, modelId);
}

/** The reason why the scope excludes a provider; undefined if it does not. */
export function providerExclusion(scope: RoutingScope, provider: Provider): string | undefined {
  if (!passes(scope.supplyTiers, provider.tier)) return "outside the supply tiers of the scope";
  if (!passes(scope.pinnedProviders, provider.id)) return "not among the pinned providers";
  return undefined;
}

/** The reason why a provider gets no calls now; undefined if it does. */
export function pauseExclusion({ paused }: Catalog, providerId: string): string | undefined {
  const untilMs = paused?.get(providerId);
  return untilMs === undefined ? undefined : `paused until ${new Date(untilMs).toISOString()}`;
}

/** The error of a call whose providers are all paused. */
export const allPaused = (modelId: string): GatewayError =>
  new GatewayError(
    "no_provider_available",
    `Every provider of the model "${modelId}" is paused by an administrator.`,
    { retryAfterSeconds: pausedRetrySeconds },
  );

const pausedRetrySeconds = 30;

/** True if a scope lets a provider serve a model, by the current configuration. Checked again for every attempt (T74). */
export function permits(
  scope: Constraints,
  catalog: Catalog,
  modelId: string,
  providerId: string,
): boolean {
  const provider = catalog.providers.get(providerId);
  return (
    provider !== undefined &&
    !catalog.paused?.has(providerId) &&
    passes(scope.modelAllowlists, modelId) &&
    passes(scope.supplyTiers, provider.tier) &&
    passes(scope.pinnedProviders, providerId)
  );
}

interface CallableMediaModel {
  readonly model: ImageModel | VideoModel;
  readonly offers: readonly MediaOffer[];
}

/** A model that a caller can call, with the offers that its scope allows. */
export type CallableModel =
  | CallableMediaModel
  | { readonly model: TextModel | EmbeddingModel; readonly offers: readonly Offer[] };

export const isMediaModel = (callable: CallableModel): callable is CallableMediaModel =>
  callable.model.kind === "image" || callable.model.kind === "video";

function callable(catalog: Catalog, scope: RoutingScope, model: Model): CallableModel | undefined {
  if (model.endpoints.length === 0 || !modelAllowed(scope, model.id)) return undefined;
  const all: readonly (Offer | MediaOffer)[] = model.offers;
  const offers = all.filter((offer) => {
    const provider = catalog.providers.get(offer.provider);
    return provider !== undefined && providerExclusion(scope, provider) === undefined;
  });
  // A model's offers have the model's kind.
  return offers.length === 0 ? undefined : ({ model, offers } as CallableModel);
}

/** The models that a caller can call, in the catalogue's order. For `GET /v1/models`; without a key use `openScope`. */
export function modelsFor(catalog: Catalog, scope: RoutingScope): CallableModel[] {
  return [...catalog.models.values()].flatMap((model) => callable(catalog, scope, model) ?? []);
}
