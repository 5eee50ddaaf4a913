/**
 * Orders candidates by health. Failing ones are left out while others remain, single calls probe those that may have recovered, and
 * recovered ones get a growing share. docs/routing.md.
 */
import type { Provider } from "../catalog/index.ts";
import type { Health, ServedModel } from "./health.ts";
import type { Ordered } from "./order.ts";

export interface LineUp<Kind> extends Ordered<Kind> {
  /** The excluded offers, with the reasons. Absent: none. */
  readonly excluded?: ReadonlyMap<Kind, string> | undefined;
}

interface HealthOrderInput<Kind> {
  /** Absent: nothing is known, and no offer is left out. */
  readonly health: Health | undefined;
  readonly providers: ReadonlyMap<string, Provider>;
  /** Orders candidates, regardless of their health. */
  readonly order: (offers: readonly Kind[]) => Ordered<Kind>;
  /**
   * A number in [0, 1): an offer with a reduced share gets the calls whose draw is below that share. The draw is the same for one session
   * and offer, so that a session returns once and stays.
   */
  readonly draw: (offer: Kind) => number;
}

/** Returns the order of attempts. Every one of `offers` is in it or in `excluded`; never empty. */
export function orderByHealth<Kind extends ServedModel>(
  offers: readonly Kind[],
  input: HealthOrderInput<Kind>,
): LineUp<Kind> {
  const { health, order } = input;
  if (health === undefined || offers.length === 1) return order(offers);
  const ranks = rank(offers, health, input);
  if (ranks === undefined) return order(offers);
  const { ready, recovering, due, probed, out } = ranks;
  const lead = ready.length > 0 ? ready : recovering;
  // No other offers are left.
  if (lead.length === 0) return order(offers);
  const rest = lead === ready ? [...recovering, ...due] : due;
  const lastResort = inOrder(order, probed);
  const excluded = out.size > 0 ? out : undefined;
  const ordered = order(lead);
  if (due.length === 0) {
    const all = [...ordered.offers, ...inOrder(order, rest), ...lastResort];
    return { ...ordered, offers: all, excluded };
  }
  const [first] = order([...lead, ...due]).offers;
  const probe = due.filter((offer) => offer === first);
  const last = rest.filter((offer) => offer !== first || probe.length === 0);
  const all = [...probe, ...ordered.offers, ...inOrder(order, last), ...lastResort];
  return { ...ordered, offers: all, excluded };
}

const inOrder = <Kind>(order: HealthOrderInput<Kind>["order"], offers: readonly Kind[]) =>
  offers.length === 0 ? offers : order(offers).offers;

/** Undefined if all offers are healthy, the usual case. */
function rank<Kind extends ServedModel>(
  offers: readonly Kind[],
  health: Health,
  { providers, draw }: HealthOrderInput<Kind>,
) {
  const nowMs = health.nowMs();
  const shareOf = (offer: Kind) => health.of(offer).circuit.share(nowMs);
  const isWell = (offer: Kind) =>
    health.availability(offer, providers.get(offer.provider)!) === "ready" && shareOf(offer) === 1;
  if (offers.every(isWell)) return undefined;
  const ranks = {
    ready: [] as Kind[],
    recovering: [] as Kind[],
    due: [] as Kind[],
    probed: [] as Kind[],
    out: new Map<Kind, string>(),
  };
  for (const offer of offers) {
    const provider = providers.get(offer.provider)!;
    const availability = health.availability(offer, provider);
    if (availability === "out" && health.isProbed(offer, provider)) ranks.probed.push(offer);
    else if (availability === "out") ranks.out.set(offer, health.reason(offer, provider));
    else if (availability === "due") ranks.due.push(offer);
    else if (draw(offer) < shareOf(offer)) ranks.ready.push(offer);
    else ranks.recovering.push(offer);
  }
  return ranks;
}
