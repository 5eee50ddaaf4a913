/**
 * How the providers are doing, from this process's own calls: a circuit and a speed for each (provider,
 * model), and which credentials are refused. Calls tell it how their attempts ended; plans and attempts ask it. What changes by them
 * goes to the other gateways, and what those found comes in (peers.ts). docs/routing.md.
 */
import type { Clock } from "../base/clock.ts";
import type { Credential, Provider } from "../catalog/index.ts";
import {
  defaultCircuitRules,
  type CircuitRules,
  type OpenReport,
  type CircuitState,
} from "./circuit.ts";
import {
  Credentials,
  defaultCredentialRules,
  type CoolDownReport,
  type CredentialRefusal,
  type CredentialRules,
} from "./credentials.ts";
import { OutcomeCounts } from "./last-hour.ts";
import { OfferHealths, type OfferHealth, type ServedModel } from "./offer-health.ts";
import { ProviderForms, type Providers } from "./provider-forms.ts";
import type { MeasuredCall } from "./speed.ts";

export type { ServedModel } from "./offer-health.ts";

export interface HealthRules {
  readonly circuit: CircuitRules;
  readonly credentials: CredentialRules;
}

export const defaultHealthRules: HealthRules = {
  circuit: defaultCircuitRules,
  credentials: defaultCredentialRules,
};

/** What the outcome table says of an attempt without an answer. */
export interface Unanswered {
  readonly hurtsHealth: boolean;
  /** The provider let its caller wait for nothing. */
  readonly silent?: boolean | undefined;
  /** Present where it was the credential that was refused: not the provider's failure. */
  readonly credential?: CredentialRefusal | undefined;
  /** Another account of the provider may answer: that says nothing of this one's credential. */
  readonly ofAccount?: boolean | undefined;
  /** How it ended, for people: a word or a status, and the vendor's words without credentials. */
  readonly failure?: { readonly code: string; readonly message?: string | undefined } | undefined;
}

/** An attempt as health hears of it. */
export interface HealthAttempt {
  readonly provider: Provider;
  readonly offer: ServedModel;
  readonly credential: Credential;
  /** When it began, by `Health.nowMs`. */
  readonly begunMs: number;
}

/** One credential of a provider, for one of its models or for all. */
export interface RefusedCredential {
  readonly provider: Provider;
  readonly id: string;
  readonly of: CredentialRefusal["of"];
  /** The upstream's name of the model; says nothing where it is for all. */
  readonly model: string;
}

/** The other gateways. */
export interface Peers {
  /** The circuit of an offer changed by calls of this gateway. */
  circuitChanged(offer: ServedModel): void;
  /** What is held against a credential changed by calls of this gateway. */
  credentialChanged(refused: RefusedCredential): void;
  /** Asks for the one probe of all gateways: 0 where this one may send it, else the milliseconds until it may ask again. */
  askProbe(offer: ServedModel, probeMs: number): Promise<number>;
}

export interface HealthOptions {
  /** For what people read; intervals are measured by a clock that never goes back. */
  readonly clock: Clock;
  readonly rules?: HealthRules | undefined;
  /** Those of the catalogue in force: what was found of one is over when it changes. Absent: none ever does. */
  readonly providers?: (() => Providers) | undefined;
  /** Milliseconds; never goes back. `performance.now` where absent. */
  readonly nowMs?: (() => number) | undefined;
  /** Uniform in [0, 1). */
  readonly random?: (() => number) | undefined;
}

export class Health {
  /** Milliseconds of a clock that never goes back: the time of everything here. */
  readonly nowMs: () => number;
  readonly #clock: Clock;
  readonly #rules: HealthRules;
  readonly #credentials: Credentials;
  readonly #providers: HealthOptions["providers"];
  readonly #forms = new ProviderForms();
  readonly #offers: OfferHealths;
  /** How attempts ended, until it is added to what all gateways know. */
  readonly outcomes = new OutcomeCounts();
  #peers: Peers | undefined;

  constructor(options: HealthOptions) {
    this.nowMs = options.nowMs ?? (() => performance.now());
    this.#clock = options.clock;
    this.#rules = options.rules ?? defaultHealthRules;
    this.#providers = options.providers;
    this.#offers = new OfferHealths(this.#rules.circuit);
    this.#credentials = new Credentials(this.#rules.credentials, options.random ?? Math.random);
  }

  /** From now on the other gateways hear of changes, and are asked before a probe. */
  join(peers: Peers): void {
    this.#peers = peers;
  }

  /** What is known of an offer. */
  of(offer: ServedModel): OfferHealth {
    this.#renew();
    return this.#offers.of(offer);
  }

  /** Providers that have changed are new ones. */
  #renew(): void {
    if (this.#providers === undefined) return;
    const providers = this.#providers();
    for (const id of this.#forms.changed(providers)) {
      this.#offers.forget(id, providers.has(id) ? this.nowMs() : undefined);
      this.#credentials.keep(id, providers.get(id));
    }
  }

  /** `ready`: calls may go there. `due`: one may, to probe it. `out`: none may while others are left. */
  standing(offer: ServedModel, provider: Provider): "ready" | "due" | "out" {
    const nowMs = this.nowMs();
    const state = this.of(offer).circuit.state(nowMs);
    if (state === "open") return "out";
    if (!this.#credentials.ready(useOf(provider, offer), nowMs)) return "out";
    return state === "due" ? "due" : "ready";
  }

  /** Whether it is out only because its probe is under way: it may be well again, and is asked where all others failed. */
  isProbed(offer: ServedModel, provider: Provider): boolean {
    const nowMs = this.nowMs();
    return (
      this.of(offer).circuit.isProbed(nowMs) &&
      this.#credentials.ready(useOf(provider, offer), nowMs)
    );
  }

  /** Why an offer is out, for the log. */
  reason(offer: ServedModel, provider: Provider): string {
    const nowMs = this.nowMs();
    const { openedMs } = this.of(offer).circuit;
    if (openedMs !== undefined) return `circuit open since ${this.#at(openedMs, nowMs)}`;
    const readyMs = this.#credentials.readyAtMs(useOf(provider, offer), nowMs);
    return `every credential is left alone until ${this.#at(readyMs, nowMs)}`;
  }

  /**
   * Whether an attempt may be made there while others are left. A yes may make the attempt the probe; then the other gateways
   * are asked first whether it is theirs.
   */
  admit(offer: ServedModel, provider: Provider): boolean | Promise<boolean> {
    const nowMs = this.nowMs();
    if (!this.#credentials.ready(useOf(provider, offer), nowMs)) return false;
    const { circuit } = this.of(offer);
    const isProbe = circuit.state(nowMs) === "due";
    if (!circuit.admit(nowMs)) return false;
    return isProbe && this.#peers !== undefined ? this.#admitProbe(offer, this.#peers) : true;
  }

  async #admitProbe(offer: ServedModel, peers: Peers): Promise<boolean> {
    const waitMs = await peers.askProbe(offer, this.#rules.circuit.probeMs);
    if (waitMs <= 0) return true;
    this.of(offer).circuit.probedElsewhere(this.nowMs(), waitMs);
    return false;
  }

  /** The credential for an attempt: the same for all calls of a session, while it can be used. One of `asked` only where no other can. */
  credential(
    offer: ServedModel,
    provider: Provider,
    session?: string,
    asked?: ReadonlySet<string>,
  ): Credential {
    return this.#credentials.pick(useOf(provider, offer), this.nowMs(), { session, asked });
  }

  /** Whether the provider has a credential for this model that can be used now, and is not among `asked`. */
  hasCredential(offer: ServedModel, provider: Provider, asked?: ReadonlySet<string>): boolean {
    return this.#credentials.ready(useOf(provider, offer), this.nowMs(), asked);
  }

  /** A circuit that is not closed, in times that people read; undefined where it is. */
  openCircuit(offer: ServedModel) {
    const nowMs = this.nowMs();
    const { circuit } = this.of(offer);
    const state = circuit.state(nowMs);
    if (state === "closed") return undefined;
    const since = this.#at(circuit.openedMs ?? nowMs, nowMs);
    return { state, since, nextProbeAt: this.#at(circuit.nextProbeMs, nowMs) };
  }

  /** The circuits of all that was asked since the start, each with its provider and the vendor's name of the model. */
  circuits(): (readonly [served: string, state: CircuitState])[] {
    const nowMs = this.nowMs();
    return this.#offers.all().map(([name, { circuit }]) => [name, circuit.state(nowMs)]);
  }

  /** The provider's credentials that are left alone now, by their ids: until when at the longest, and why. */
  coolDowns(
    provider: Provider,
    models: readonly string[],
  ): ReadonlyMap<string, { readonly until: string; readonly reason: string }> {
    const nowMs = this.nowMs();
    const found = new Map<string, { until: string; reason: string }>();
    for (const { id } of provider.credentials) {
      const all = models.flatMap((model) => {
        const one = this.#credentials.coolDown({ provider, model }, id, nowMs);
        return one === undefined ? [] : [{ ...one, model }];
      });
      const [longest] = all.toSorted((left, right) => right.endMs - left.endMs);
      if (longest === undefined) continue;
      const reason = longest.of === "credential" ? "refused" : `limited for ${longest.model}`;
      found.set(id, { until: this.#at(longest.endMs, nowMs), reason });
    }
    return found;
  }

  /** The attempt was answered; `call` where its speed says something. */
  succeeded(attempt: HealthAttempt, call?: MeasuredCall): void {
    const nowMs = this.nowMs();
    this.outcomes.add(attempt.provider.id);
    const { provider, offer, credential, begunMs } = attempt;
    const { circuit, speed } = this.of(offer);
    const before = circuit.changes;
    circuit.succeeded(begunMs, nowMs);
    if (circuit.changes !== before) this.#peers?.circuitChanged(offer);
    const { id } = credential;
    for (const of of this.#credentials.worked(useOf(provider, offer), id, begunMs))
      this.#peers?.credentialChanged({ provider, id, of, model: offer.upstreamModel });
    if (call !== undefined) speed.add(call, nowMs);
  }

  /** The attempt gave no answer: the provider is at fault, or the credential, which is then left alone for a while, or neither. */
  unanswered(attempt: HealthAttempt, outcome: Unanswered): void {
    const { provider, offer, credential, begunMs } = attempt;
    const { circuit } = this.of(offer);
    const nowMs = this.nowMs();
    this.outcomes.add(provider.id, outcome.failure);
    if (outcome.credential !== undefined) {
      const { id } = credential;
      circuit.undecided(begunMs);
      this.#credentials.refused(useOf(provider, offer), id, outcome.credential, nowMs);
      const { of } = outcome.credential;
      this.#peers?.credentialChanged({ provider, id, of, model: offer.upstreamModel });
    } else if (outcome.hurtsHealth) {
      const before = circuit.changes;
      circuit.failed(begunMs, nowMs, outcome.silent === true);
      if (circuit.changes !== before) this.#peers?.circuitChanged(offer);
    } else circuit.undecided(begunMs);
  }

  /** What the other gateways are to hear of a credential; undefined where nothing is held against it. */
  credentialReport({ provider, id, of, model }: RefusedCredential) {
    return this.#credentials.report({ provider, model }, id, of, this.nowMs());
  }

  /** What another gateway says of a circuit; undefined: its probe was answered. */
  heardCircuit(offer: ServedModel, report: OpenReport | undefined): void {
    const { circuit } = this.of(offer);
    if (report === undefined) circuit.heardClosed(this.nowMs());
    else circuit.heardOpen(report, this.nowMs());
  }

  /** What another gateway says of a credential; undefined: it worked there. */
  heardCredential(
    { provider, id, of, model }: RefusedCredential,
    report: CoolDownReport | undefined,
  ): void {
    this.#credentials.heard({ provider, model }, id, of, { report, nowMs: this.nowMs() });
  }

  #at(ms: number, nowMs: number): string {
    return new Date(this.#clock.now() + (ms - nowMs)).toISOString();
  }
}

const useOf = (provider: Provider, { upstreamModel }: ServedModel) => ({
  provider,
  model: upstreamModel,
});
