/**
 * The plan of an image or video call: its offers, in order, with reasons. The constraints are those of text calls (plan.ts). Offers are
 * compared by the most that this request may cost. docs/routing.md; ROUTE rows.
 */
import type { NanoUsd } from "../base/money.ts";
import type { ImageModel, MediaOffer, Model, VideoModel } from "../catalog/index.ts";
import type { Strategy } from "./model-id.ts";
import { orderByHealth } from "./order-by-health.ts";
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
  /** The most that this request may cost there, in nano-USD. */
  readonly bound_nano?: string;
  readonly excluded?: string;
}

/** The reasons for a media plan. JSON as it is. */
export interface MediaExplanation extends ExplainedTarget {
  readonly offers: readonly ExplainedMediaOffer[];
  readonly order: readonly string[];
}

const makesMedia = (model: Model): model is MediaModel =>
  model.kind === "image" || model.kind === "video";

/** Returns the media model of a call. @throws GatewayError as {@link targetModel} */
export const mediaModel = (target: ModelQuery): MediaModel => targetModel(target, makesMedia);

export interface MediaPlanInput extends ModelQuery, Pick<OrderInput, "random" | "health"> {
  readonly model: MediaModel;
  /** The most that the request may cost at an offer. */
  readonly bound: (offer: MediaOffer) => NanoUsd;
  /** The call may wait until a failing provider recovers: such offers come last instead of being left out. */
  readonly waits?: boolean | undefined;
  /** The reason why an offer cannot serve this request, for conditions that only the caller of this function knows. */
  readonly exclusion?: (offer: MediaOffer) => string | undefined;
}

export interface MediaPlan {
  /** Never empty, in the order of attempts. */
  readonly offers: readonly MediaOffer[];
  readonly explanation: MediaExplanation;
  /** The constraints of the caller's layers, which also hold for later attempts (T74). */
  readonly constraints: Constraints;
}

/**
 * Orders by price, or random and weighted (half the price is four times as likely), or by latency. Throughput is not measured for media, so
 * it is as `balanced`. Preferred providers go first.
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
 * Returns the offers that may serve a media call, in order, with the reasons.
 * @throws GatewayError as {@link narrow}; `routing_locked` (400)
 */
export function planMedia(input: MediaPlanInput): MediaPlan {
  const { model, scope, catalog, health } = input;
  const chosen = chooseStrategy(input);
  const rows = narrow<MediaOffer>(model, input);
  const candidates = candidatesOf(rows);
  const order = (offers: readonly MediaOffer[]) => inOrder(offers, chosen.strategy, input);
  const ordered = orderByHealth(candidates, {
    health,
    providers: catalog.providers,
    order: (offers) => ({ offers: order(offers) }),
    draw: input.random,
  });
  const isLeftOut = (offer: MediaOffer): boolean => ordered.excluded?.has(offer) === true;
  const leftOut = input.waits === true ? candidates.filter(isLeftOut) : [];
  const offers = [...ordered.offers, ...order(leftOut)];
  const explained = ({ offer, excluded }: NarrowedOffer<MediaOffer>): ExplainedMediaOffer => {
    const why = excluded ?? ordered.excluded?.get(offer);
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
