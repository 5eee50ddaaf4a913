/**
 * The health of providers, from this process's own calls: a circuit and a speed for each (provider, model), and the refused credentials.
 * Calls report the outcome of attempts; plans and attempts query it. Changes are exchanged with the other gateways (peers.ts).
 * docs/routing.md.
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
import { ProviderDigests, type Providers } from "./provider-digests.ts";
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

/** The verdict of the outcome table on an attempt without an answer. */
export interface Unanswered {
  readonly hurtsHealth: boolean;
  /** The attempt timed out: the caller waited in vain. */
  readonly silent?: boolean | undefined;
  /** Present if the credential was refused; that does not count against the provider. */
  readonly credential?: CredentialRefusal | undefined;
  /** Another account of the provider may answer; the credential itself is not at fault. */
  readonly otherAccountMayAnswer?: boolean | undefined;
  /** `caller`: the request itself was refused, so it is no failure of the provider. */
  readonly fault?: "caller" | "gateway" | "provider" | undefined;
  /** The failure for people: a word or a status, and the vendor's message with credentials masked. */
  readonly failure?: { readonly code: string; readonly message?: string | undefined } | undefined;
}

/** An attempt as it is reported to health. */
export interface HealthAttempt {
  readonly provider: Provider;
  readonly offer: ServedModel;
  readonly credential: Credential;
  /** Start time, by `Health.nowMs`. */
  readonly begunMs: number;
}

/** A credential of a provider, for one of its models or for all. */
export interface RefusedCredential {
  readonly provider: Provider;
  readonly id: string;
  readonly of: CredentialRefusal["of"];
  /** The model's upstream name; not used if `of` is `credential`. */
  readonly model: string;
}

/** The interface to the other gateways. */
export interface Peers {
  /** Reports that calls of this gateway changed the circuit of an offer. */
  circuitChanged(offer: ServedModel): void;
  /** Reports that calls of this gateway changed the cool-down of a credential. */
  credentialChanged(refused: RefusedCredential): void;
  /** Requests the single probe of all gateways: 0 if this one may send it, else the milliseconds until it may ask again. */
  askProbe(offer: ServedModel, probeMs: number): Promise<number>;
}

export interface HealthOptions {
  /** For times that people read; intervals use a monotonic clock. */
  readonly clock: Clock;
  readonly rules?: HealthRules | undefined;
  /** The providers of the current catalogue. When one changes, its health is dropped. Absent: none ever changes. */
  readonly providers?: (() => Providers) | undefined;
  /** A monotonic clock, in milliseconds. `performance.now` if absent. */
  readonly nowMs?: (() => number) | undefined;
  /** Uniform in [0, 1). */
  readonly random?: (() => number) | undefined;
}

export class Health {
  /** A monotonic clock, in milliseconds: all times here are on it. */
  readonly nowMs: () => number;
  readonly #clock: Clock;
  readonly #rules: HealthRules;
  readonly #credentials: Credentials;
  readonly #providers: HealthOptions["providers"];
  readonly #forms = new ProviderDigests();
  readonly #offers: OfferHealths;
  /** Outcome counts that are not yet added to those of all gateways. */
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

  /** Connects the other gateways: they receive changes, and are asked before a probe. */
  join(peers: Peers): void {
    this.#peers = peers;
  }

  /** The health of an offer. */
  of(offer: ServedModel): OfferHealth {
    this.#renew();
    return this.#offers.of(offer);
  }

  /** Drops the health of providers that have changed. */
  #renew(): void {
    if (this.#providers === undefined) return;
    const providers = this.#providers();
    for (const id of this.#forms.changed(providers)) {
      this.#offers.forget(id, providers.has(id) ? this.nowMs() : undefined);
      this.#credentials.keep(id, providers.get(id));
    }
  }

  /** `ready`: takes calls. `due`: takes one call, as a probe. `out`: takes none while other offers are left. */
  availability(offer: ServedModel, provider: Provider): "ready" | "due" | "out" {
    const nowMs = this.nowMs();
    const state = this.of(offer).circuit.state(nowMs);
    if (state === "open") return "out";
    if (!this.#credentials.ready(useOf(provider, offer), nowMs)) return "out";
    return state === "due" ? "due" : "ready";
  }

  /** True if an offer is out only because its probe is in flight. It may have recovered, so it is tried if all others failed. */
  isProbed(offer: ServedModel, provider: Provider): boolean {
    const nowMs = this.nowMs();
    return (
      this.of(offer).circuit.isProbed(nowMs) &&
      this.#credentials.ready(useOf(provider, offer), nowMs)
    );
  }

  /** The reason why an offer is out, for the log. */
  reason(offer: ServedModel, provider: Provider): string {
    const nowMs = this.nowMs();
    const { openedMs } = this.of(offer).circuit;
    if (openedMs !== undefined) return `circuit open since ${this.#at(openedMs, nowMs)}`;
    const readyMs = this.#credentials.readyAtMs(useOf(provider, offer), nowMs);
    return `every credential is left alone until ${this.#at(readyMs, nowMs)}`;
  }

  /**
   * True if an attempt may be made while other offers are left. That attempt may be the probe. The other gateways are then asked first, so
   * the result is a promise.
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

  /**
   * Returns the credential for an attempt: the same for all calls of a session while it is usable. One of `asked` only if no other is
   * usable.
   */
  credential(
    offer: ServedModel,
    provider: Provider,
    session?: string,
    asked?: ReadonlySet<string>,
  ): Credential {
    return this.#credentials.pick(useOf(provider, offer), this.nowMs(), { session, asked });
  }

  /** True if the provider has a credential for this model that is usable now and not among `asked`. */
  hasCredential(offer: ServedModel, provider: Provider, asked?: ReadonlySet<string>): boolean {
    return this.#credentials.ready(useOf(provider, offer), this.nowMs(), asked);
  }

  /** The state of a circuit, in times that people read; undefined if it is closed. */
  openCircuit(offer: ServedModel) {
    const nowMs = this.nowMs();
    const { circuit } = this.of(offer);
    const state = circuit.state(nowMs);
    if (state === "closed") return undefined;
    const since = this.#at(circuit.openedMs ?? nowMs, nowMs);
    return { state, since, nextProbeAt: this.#at(circuit.nextProbeMs, nowMs) };
  }

  /** The circuit state of each offer that was looked up so far, with its provider and upstream model name. */
  circuits(): (readonly [served: string, state: CircuitState])[] {
    const nowMs = this.nowMs();
    return this.#offers.all().map(([name, { circuit }]) => [name, circuit.state(nowMs)]);
  }

  /** The provider's credentials in cool-down, by id: the latest end, and the reason. */
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

  /** Records an answered attempt; `call` is given if its speed is meaningful. */
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

  /** Records an attempt without an answer. It counts against the provider, or starts a cool-down of the credential, or neither. */
  unanswered(attempt: HealthAttempt, outcome: Unanswered): void {
    const { provider, offer, credential, begunMs } = attempt;
    const { circuit } = this.of(offer);
    const nowMs = this.nowMs();
    this.outcomes.add(provider.id, outcome.failure);
    if (outcome.credential !== undefined) {
      const { id } = credential;
      circuit.undecided(begunMs);
      this.#credentials.refused(useOf(provider, offer), id, outcome.credential, nowMs);
      const { of, isOwn = false } = outcome.credential;
      const peers = isOwn ? undefined : this.#peers;
      peers?.credentialChanged({ provider, id, of, model: offer.upstreamModel });
    } else if (outcome.hurtsHealth) {
      const before = circuit.changes;
      circuit.failed(begunMs, nowMs, outcome.silent === true);
      if (circuit.changes !== before) this.#peers?.circuitChanged(offer);
    } else circuit.undecided(begunMs);
  }

  /** The report of a credential for the other gateways; undefined without a cool-down. */
  credentialReport({ provider, id, of, model }: RefusedCredential) {
    return this.#credentials.report({ provider, model }, id, of, this.nowMs());
  }

  /** Applies another gateway's report of a circuit; undefined: its probe was answered. */
  applyCircuitReport(offer: ServedModel, report: OpenReport | undefined): void {
    const { circuit } = this.of(offer);
    if (report === undefined) circuit.applyClosedReport(this.nowMs());
    else circuit.applyOpenReport(report, this.nowMs());
  }

  /** Applies another gateway's report of a credential; undefined: it worked there. */
  applyCredentialReport(
    { provider, id, of, model }: RefusedCredential,
    report: CoolDownReport | undefined,
  ): void {
    this.#credentials.applyReport({ provider, model }, id, of, { report, nowMs: this.nowMs() });
  }

  #at(ms: number, nowMs: number): string {
    return new Date(this.#clock.now() + (ms - nowMs)).toISOString();
  }
}

const useOf = (provider: Provider, { upstreamModel }: ServedModel) => ({
  provider,
  model: upstreamModel,
});
