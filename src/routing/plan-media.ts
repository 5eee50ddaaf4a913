/**
 * The plan of an image or video call: which offers may serve it, in which order, and why. The constraints are those of
 * text calls (plan.ts); offers are compared by what this very request may cost. docs/routing.md; ROUTE rows.
 */
import { GatewayError } from "../base/errors.ts";
import type { NanoUsd } from "../base/money.ts";
import type { ImageModel, MediaOffer, Model, VideoModel } from "../catalog/index.ts";
import type { Strategy } from "./model-id.ts";
import type { Health } from "./health.ts";
import { lineUp } from "./line-up.ts";
import { byMeasure, drawnScore, measureOf } from "./order.ts";
import { allPaused, pauseExclusion, providerExclusion, type Constraints } from "./scope.ts";
import { chooseStrategy, targetModel, type ModelQuery } from "./target.ts";

type MediaModel = ImageModel | VideoModel;

/** One offer as the request log shows it. JSON as it is. */
interface ExplainedMediaOffer {
  readonly provider: string;
  readonly tier: string;
  /** Nano-USD that this request may cost there at most. */
  readonly bound_nano?: string;
  readonly excluded?: string;
}

/** Why a media plan is as it is. JSON as it is. */
export interface MediaExplanation {
  readonly model: string;
  readonly entry_point: string;
  readonly strategy: Strategy;
  readonly strategy_source: "request" | "scope" | "default";
  readonly pinned_by_request?: string;
  readonly offers: readonly ExplainedMediaOffer[];
  readonly order: readonly string[];
}

const makesMedia = (model: Model): model is MediaModel =>
  model.kind === "image" || model.kind === "video";

/** The media model of a call. @throws GatewayError as {@link targetModel} */
export const mediaModel = (target: ModelQuery): MediaModel => targetModel(target, makesMedia);

export interface MediaPlanInput extends ModelQuery {
  readonly model: MediaModel;
  /** What the request may cost at an offer, at most. */
  readonly bound: (offer: MediaOffer) => NanoUsd;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** How the providers are doing. Absent: nothing is known of any. */
  readonly health?: Health | undefined;
  /** The call may wait until a provider that is in trouble now is well again: those come last, in place of being left out. */
  readonly waits?: boolean | undefined;
  /** Why an offer cannot serve this request, for what only the caller of this function knows. */
  readonly exclusion?: (offer: MediaOffer) => string | undefined;
}

export interface MediaPlan {
  /** Never empty; the first is tried first. */
  readonly offers: readonly MediaOffer[];
  readonly explanation: MediaExplanation;
  /** What the caller's layers allow: it holds for attempts that are made later, too (T74). */
  readonly constraints: Constraints;
}

function exclusionOf(input: MediaPlanInput, offer: MediaOffer): string | undefined {
  const provider = input.catalog.providers.get(offer.provider);
  if (provider === undefined) return "not configured";
  return providerExclusion(input.scope, provider) ?? input.exclusion?.(offer);
}

/**
 * By price, or random and weighted (half the price is four times as likely), or by how long calls took (throughput is not
 * measured of media); the preferred first.
 */
function inOrder(
  offers: readonly MediaOffer[],
  strategy: Strategy,
  input: MediaPlanInput,
): MediaOffer[] {
  const { bound, random, health } = input;
  const rows = offers.map((offer) => {
    const price = bound(offer);
    const score =
      strategy === "price" ? 0 : drawnScore({ offer, among: offers, price, health, random });
    return { offer, price, score };
  });
  rows.sort((left, right) => left.score - right.score || Number(left.price - right.price));
  const drawn = rows.map(({ offer }) => offer);
  const sorted =
    strategy === "latency" ? byMeasure(drawn, measureOf(strategy, input), random) : drawn;
  const leads = ({ provider }: MediaOffer) => input.scope.preferredProviders.includes(provider);
  return [...sorted.filter(leads), ...sorted.filter((offer) => !leads(offer))];
}

/** The offers that the constraints and the request's own pin leave. @throws GatewayError */
function narrowed(
  { model, parsed }: MediaPlanInput,
  rows: readonly { readonly offer: MediaOffer; readonly excluded: string | undefined }[],
): MediaOffer[] {
  const allowed = rows.filter(({ excluded }) => excluded === undefined).map(({ offer }) => offer);
  if (allowed.length === 0) {
    const message = `No provider of the model "${model.id}" can serve this request inside the routing scope of this key.`;
    throw new GatewayError("model_not_allowed", message, { param: "model" });
  }
  if (parsed.provider === undefined) return allowed;
  const pinned = allowed.filter(({ provider }) => provider === parsed.provider);
  if (pinned.length > 0) return pinned;
  const message = `The provider "${parsed.provider}" does not serve the model "${model.id}" to this key.`;
  throw new GatewayError("provider_not_found", message, { param: "model" });
}

/**
 * Which offers may serve a media call, in order, with the reasons.
 * @throws GatewayError `model_not_allowed` (403), `routing_locked` or `provider_not_found` (400), `no_provider_available`
 * (503) where all are paused
 */
export function planMedia(input: MediaPlanInput): MediaPlan {
  const { model, parsed, scope, catalog, health } = input;
  const { strategy, source } = chooseStrategy(input);
  const rows = model.offers.map((offer) => ({ offer, excluded: exclusionOf(input, offer) }));
  const within = narrowed(input, rows);
  const candidates = within.filter(
    ({ provider }) => pauseExclusion(catalog, provider) === undefined,
  );
  if (candidates.length === 0) throw allPaused(model.id);
  const lined = lineUp(candidates, {
    health,
    providers: catalog.providers,
    order: (offers) => ({ offers: inOrder(offers, strategy, input) }),
    draw: input.random,
  });
  const isLeftOut = (offer: MediaOffer): boolean => lined.excluded?.has(offer) === true;
  const leftOut = input.waits === true ? candidates.filter(isLeftOut) : [];
  const offers = [...lined.offers, ...inOrder(leftOut, strategy, input)];
  const whyNot = (offer: MediaOffer, excluded: string | undefined): string | undefined =>
    excluded ??
    lined.excluded?.get(offer) ??
    pauseExclusion(catalog, offer.provider) ??
    (candidates.includes(offer) ? undefined : "not the provider the request names");
  const explained = ({ offer, excluded }: (typeof rows)[number]): ExplainedMediaOffer => {
    const why = whyNot(offer, excluded);
    return {
      provider: offer.provider,
      tier: catalog.providers.get(offer.provider)?.tier ?? "unknown",
      ...(why === undefined ? { bound_nano: String(input.bound(offer)) } : { excluded: why }),
    };
  };
  const { modelAllowlists, supplyTiers, pinnedProviders } = scope;
  return {
    offers,
    constraints: { modelAllowlists, supplyTiers, pinnedProviders },
    explanation: {
      model: model.id,
      entry_point: input.entryPoint,
      strategy,
      strategy_source: source,
      ...(parsed.provider === undefined ? {} : { pinned_by_request: parsed.provider }),
      offers: rows.map(explained),
      order: offers.map(({ provider }) => provider),
    },
  };
}
