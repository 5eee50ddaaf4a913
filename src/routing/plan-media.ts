/**
 * The plan of an image or video call: which offers may serve it, in which order, and why. The constraints are those of
 * text calls (plan.ts); offers are compared by what this very request may cost. docs/routing.md; ROUTE rows.
 */
import type { NanoUsd } from "../base/money.ts";
import type { ImageModel, MediaOffer, Model, VideoModel } from "../catalog/index.ts";
import type { Strategy } from "./model-id.ts";
import { lineUp } from "./line-up.ts";
import { candidatesOf, narrow, type NarrowedOffer } from "./narrow.ts";
import { byMeasure, drawnScore, measureOf, preferredFirst, type OrderInput } from "./order.ts";
import type { Constraints } from "./scope.ts";
import {
  chooseStrategy,
  explainTarget,
  targetModel,
  type ExplainedTarget,
  type ModelQuery,
} from "./target.ts";

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
export interface MediaExplanation extends ExplainedTarget {
  readonly offers: readonly ExplainedMediaOffer[];
  readonly order: readonly string[];
}

const makesMedia = (model: Model): model is MediaModel =>
  model.kind === "image" || model.kind === "video";

/** The media model of a call. @throws GatewayError as {@link targetModel} */
export const mediaModel = (target: ModelQuery): MediaModel => targetModel(target, makesMedia);

export interface MediaPlanInput extends ModelQuery, Pick<OrderInput, "random" | "health"> {
  readonly model: MediaModel;
  /** What the request may cost at an offer, at most. */
  readonly bound: (offer: MediaOffer) => NanoUsd;
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
  return preferredFirst(sorted, input.scope.preferredProviders);
}

/**
 * Which offers may serve a media call, in order, with the reasons.
 * @throws GatewayError as {@link narrow}; `routing_locked` (400)
 */
export function planMedia(input: MediaPlanInput): MediaPlan {
  const { model, scope, catalog, health } = input;
  const chosen = chooseStrategy(input);
  const rows = narrow<MediaOffer>(model, input);
  const candidates = candidatesOf(rows);
  const order = (offers: readonly MediaOffer[]) => inOrder(offers, chosen.strategy, input);
  const lined = lineUp(candidates, {
    health,
    providers: catalog.providers,
    order: (offers) => ({ offers: order(offers) }),
    draw: input.random,
  });
  const isLeftOut = (offer: MediaOffer): boolean => lined.excluded?.has(offer) === true;
  const leftOut = input.waits === true ? candidates.filter(isLeftOut) : [];
  const offers = [...lined.offers, ...order(leftOut)];
  const explained = ({ offer, excluded }: NarrowedOffer<MediaOffer>): ExplainedMediaOffer => {
    const why = excluded ?? lined.excluded?.get(offer);
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
      ...explainTarget(input, chosen),
      offers: rows.map(explained),
      order: offers.map(({ provider }) => provider),
    },
  };
}
