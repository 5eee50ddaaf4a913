/** What health is kept of, and what is kept of each: a circuit and a speed for each (provider, model). docs/routing.md. */
import { getOrMake } from "../base/made-once.ts";
import { Circuit, type CircuitRules } from "./circuit.ts";
import { Speed } from "./speed.ts";

/** What health is kept of: an upstream's model at a provider. Every kind of offer is one. */
export interface ServedModel {
  readonly provider: string;
  readonly upstreamModel: string;
}

/** What is known of one (provider, model). */
export interface OfferHealth {
  readonly circuit: Circuit;
  readonly speed: Speed;
}

export class OfferHealths {
  readonly #rules: CircuitRules;
  /** As many as the catalogue has upstream models. They outlive a reload of it that leaves their provider as it was. */
  readonly #byName = new Map<string, OfferHealth>();
  #byOffer = new WeakMap<ServedModel, OfferHealth>();
  /** When a provider changed: what began before says nothing of it. */
  readonly #changedMs = new Map<string, number>();

  constructor(rules: CircuitRules) {
    this.#rules = rules;
  }

  of(offer: ServedModel): OfferHealth {
    return getOrMake(this.#byOffer, offer, () =>
      getOrMake(this.#byName, `${offer.provider} ${offer.upstreamModel}`, () => ({
        circuit: new Circuit(this.#rules, this.#changedMs.get(offer.provider)),
        speed: new Speed(),
      })),
    );
  }

  /** All that was asked for, each by its provider and the vendor's name of the model. */
  all(): readonly (readonly [served: string, known: OfferHealth])[] {
    return [...this.#byName];
  }

  /** A provider changed at `nowMs`, or is gone where that is undefined: what was found of it is over. */
  forget(providerId: string, nowMs: number | undefined): void {
    for (const name of this.#byName.keys())
      if (name.startsWith(`${providerId} `)) this.#byName.delete(name);
    this.#byOffer = new WeakMap();
    if (nowMs === undefined) this.#changedMs.delete(providerId);
    else this.#changedMs.set(providerId, nowMs);
  }
}
