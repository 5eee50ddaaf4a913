/**
 * The order in which candidates are tried: strategy, then preferred providers, then the session. docs/routing.md. Pure: randomness is
 * a parameter.
 */
import { createHash } from "node:crypto";
import { getOrCreate } from "../base/memoize.ts";
import type { NanoUsd } from "../base/money.ts";
import { noUsage } from "../base/usage.ts";
import { priceUsage, type Offer, type TextPrice } from "../catalog/index.ts";
import type { Health, ServedModel } from "./health.ts";
import type { Strategy } from "./model-id.ts";
import { drawOf, rendezvous } from "./rendezvous.ts";

export interface OrderInput<Kind extends Offer = Offer> {
  readonly offers: readonly Kind[];
  /** The caller's protocol. An offer that speaks it needs no conversion, so nothing can be lost. */
  readonly protocol: Offer["protocol"];
  readonly strategy: Strategy;
  readonly preferredProviders: readonly string[];
  /** The name of the session: `prompt_cache_key`, else the end-user id (RESP-36, RESP-37). */
  readonly session?: string | undefined;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Absent: there are no measurements. */
  readonly health?: Health | undefined;
  /** True if the caller wants a stream: streams and whole answers are measured apart. */
  readonly stream?: boolean | undefined;
}

export interface Ordered<Kind> {
  readonly offers: readonly Kind[];
  /** The provider of the session, if the call has one. */
  readonly sessionProvider?: string | undefined;
}

/** The price of a standard call, by which offers are compared: 3,000 tokens in, 1,000 out. */
export function standardPrice(price: TextPrice): NanoUsd {
  return priceUsage(price, { ...noUsage, inputTokens: 3_000, outputTokens: 1_000 });
}

const compare = (left: bigint, right: bigint): number => {
  if (left === right) return 0;
  return left < right ? -1 : 1;
};

interface Drawn {
  readonly offer: Weighted;
  /** All offers of the model that may serve the call. */
  readonly among: readonly Weighted[];
  readonly price: NanoUsd;
  readonly health: Health | undefined;
  readonly random: () => number;
}

type Weighted = ServedModel & { readonly weight?: number | undefined };

/** True if the operator set the weight of an offer. */
const isShared = (offers: readonly Weighted[]): boolean =>
  offers.some(({ weight }) => weight !== undefined);

/**
 * Returns a random score: among several offers, each has the least with a probability proportional to its weight. The operator sets the
 * weight. Otherwise half the price is four times the weight. If half the calls fail, the weight is a quarter.
 */
export function drawnScore({ offer, among, price, health, random }: Drawn): number {
  const failing = health?.of(offer).circuit.failureShare(health.nowMs()) ?? 0;
  const working = Math.max(1 - failing, 0.01) ** 2;
  const weight = isShared(among) ? (offer.weight ?? 1) : Math.max(Number(price), 1) ** -2;
  return weight === 0 ? Infinity : -Math.log(1 - random()) / (weight * working);
}

/**
 * Shuffles by weight, without replacement. A provider's offers of one upstream model share a draw, so that its protocols stay in their
 * order: a vendor's prompt cache begins anew when the protocol changes. The draws of a session come from its name.
 */
function weighted<Kind extends Offer>(input: OrderInput<Kind>): Kind[] {
  const { offers, health, session } = input;
  const draws = new Map<string, number>();
  const served = ({ provider, upstreamModel, protocol }: Kind): string =>
    [provider, upstreamModel, ...(isShared(offers) ? [protocol] : [])].join("\0");
  return offers
    .map((offer) => {
      const price = standardPrice(offer.price);
      const name = served(offer);
      const draw = () => (session ? drawOf(session, name) : input.random());
      const random = () => getOrCreate(draws, name, draw);
      return { offer, score: drawnScore({ offer, among: offers, price, health, random }) };
    })
    .sort((left, right) => left.score - right.score)
    .map(({ offer }) => offer);
}

/** Moves the offers that pass the test to the front; otherwise the order stays. */
const putFirst = <Kind>(offers: readonly Kind[], test: (offer: Kind) => boolean): Kind[] => [
  ...offers.filter(test),
  ...offers.filter((offer) => !test(offer)),
];

/** Moves offers that need no conversion to the front. */
const directFirst = <Kind extends Offer>(
  offers: readonly Kind[],
  direct: Offer["protocol"],
): Kind[] => putFirst(offers, ({ protocol }) => protocol === direct);

/** Moves offers of preferred providers to the front. */
export const preferredFirst = <Kind extends { readonly provider: string }>(
  offers: readonly Kind[],
  preferred: readonly string[],
): Kind[] => putFirst(offers, ({ provider }) => preferred.includes(provider));

/** The share of calls that first try an offer without a recent measurement, if others have one. */
const exploredShare = 0.1;

/** Returns the measure of a strategy, the least first; it is undefined for an offer without a recent measurement. */
export function measureOf(
  strategy: "latency" | "throughput",
  {
    health,
    stream = false,
  }: { readonly health?: Health | undefined; readonly stream?: boolean | undefined },
): (offer: ServedModel) => number | undefined {
  const nowMs = health?.nowMs() ?? 0;
  return (offer) => {
    const speed = health?.of(offer).speed;
    if (strategy === "latency") return speed?.firstTokenMs(stream, nowMs);
    const tokens = speed?.tokensPerSecond(stream, nowMs);
    return tokens === undefined ? undefined : -tokens;
  };
}

/** Sorts by a measure. Items without one follow; now and then one of them leads, to be measured. */
export function byMeasure<Kind>(
  items: readonly Kind[],
  measure: (item: Kind) => number | undefined,
  random: () => number,
): Kind[] {
  const known = items.filter((item) => measure(item) !== undefined);
  if (known.length === 0) return [...items];
  known.sort((left, right) => measure(left)! - measure(right)!);
  const unknown = items.filter((item) => measure(item) === undefined);
  const explored = unknown.length > 0 && random() < exploredShare ? 1 : 0;
  return [...unknown.slice(0, explored), ...known, ...unknown.slice(explored)];
}

/** The operator's weights hold whatever protocol an offer speaks. */
const balanced = <Kind extends Offer>(input: OrderInput<Kind>): Kind[] =>
  isShared(input.offers) ? weighted(input) : directFirst(weighted(input), input.protocol);

function byStrategy<Kind extends Offer>(input: OrderInput<Kind>): Kind[] {
  const { offers, protocol, strategy } = input;
  switch (strategy) {
    case "price":
      return directFirst(offers, protocol).sort((left, right) =>
        compare(standardPrice(left.price), standardPrice(right.price)),
      );
    case "latency":
    case "throughput":
      return byMeasure(balanced(input), measureOf(strategy, input), input.random);
    case "balanced":
      return balanced(input);
  }
}

/**
 * A number in [0, 1), the same for one session and provider on every gateway. It decides when the session returns to a recovered provider.
 */
export function sessionDraw(session: string, provider: string): number {
  const hash = createHash("sha256").update(`back\0${session}\0${provider}`).digest();
  return hash.readUInt32BE() / 2 ** 32;
}

/** The offers that pass the test; all if none does. */
const onlyOrAll = <Kind>(
  offers: readonly Kind[],
  test: (offer: Kind) => boolean,
): readonly Kind[] => (offers.some(test) ? offers.filter(test) : offers);

/** True if the operator's weights count: under `balanced` they are shares of the calls. */
const countsWeights = ({ strategy, offers }: OrderInput): boolean =>
  strategy === "balanced" && isShared(offers);

/**
 * The offers that a session may stay with. Preferred providers only, if there are any, so that a session never overrules them. None with
 * weight 0 while there are others. Then only those without conversion, because reasoning signatures survive only there (T43).
 */
function sessionCandidates(input: OrderInput): readonly Offer[] {
  const { offers, preferredProviders, protocol } = input;
  const leading = onlyOrAll(offers, ({ provider }) => preferredProviders.includes(provider));
  const shared = countsWeights(input) ? onlyOrAll(leading, ({ weight }) => weight !== 0) : leading;
  return onlyOrAll(shared, (offer) => offer.protocol === protocol);
}

/** The provider of a session. The operator's weights are shares of the sessions too; without weights all shares are equal. */
function sessionProvider(session: string, input: OrderInput): string | undefined {
  const isWeighted = countsWeights(input);
  const held = rendezvous(session, sessionCandidates(input), ({ provider: name, weight }) => ({
    name,
    weight: (isWeighted && weight) || 1,
  }));
  return held?.provider;
}

/** Returns all candidates, in the order of attempts. */
export function orderOffers<Kind extends Offer>(input: OrderInput<Kind>): Ordered<Kind> {
  const sorted = preferredFirst(byStrategy(input), input.preferredProviders);
  if (input.session === undefined || input.session === "") return { offers: sorted };
  const held = sessionProvider(input.session, input);
  const isHeld = ({ provider }: Offer): boolean => provider === held;
  const direct = putFirst(sorted, (offer) => isHeld(offer) && offer.protocol === input.protocol);
  return { offers: putFirst(direct, isHeld), sessionProvider: held };
}
