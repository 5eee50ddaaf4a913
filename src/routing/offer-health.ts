/** The health of each (provider, model): a circuit and a speed. docs/routing.md. */
import { getOrCreate } from "../base/memoize.ts";
import { Circuit, type CircuitRules } from "./circuit.ts";
import { Speed } from "./speed.ts";

/** An upstream's model at a provider: the unit of health. Every kind of offer is one. */
export interface ServedModel {
  readonly provider: string;
  readonly upstreamModel: string;
}

/** The health of one (provider, model). */
export interface OfferHealth {
  readonly circuit: Circuit;
  readonly speed: Speed;
}

export class OfferHealths {
  readonly #rules: CircuitRules;
  /** One entry per upstream model of the catalogue. Entries outlive a reload that leaves their provider unchanged. */
  readonly #byName = new Map<string, OfferHealth>();
  #byOffer = new WeakMap<ServedModel, OfferHealth>();
  /** Times of provider changes: attempts that began before one say nothing about the changed provider. */
  readonly #changedMs = new Map<string, number>();

  constructor(rules: CircuitRules) {
    this.#rules = rules;
  }

  of(offer: ServedModel): OfferHealth {
    return getOrCreate(this.#byOffer, offer, () =>
      getOrCreate(this.#byName, `${offer.provider} ${offer.upstreamModel}`, () => ({
        circuit: new Circuit(this.#rules, this.#changedMs.get(offer.provider)),
        speed: new Speed(),
      })),
    );
  }

  /** All entries, each by its provider and upstream model name. */
  all(): readonly (readonly [served: string, known: OfferHealth])[] {
    return [...this.#byName];
  }

  /** Drops the health of a provider that changed at `nowMs`, or is gone if that is undefined. */
  forget(providerId: string, nowMs: number | undefined): void {
    for (const name of this.#byName.keys())
      if (name.startsWith(`${providerId} `)) this.#byName.delete(name);
    this.#byOffer = new WeakMap();
    if (nowMs === undefined) this.#changedMs.delete(providerId);
    else this.#changedMs.set(providerId, nowMs);
  }
}
