/**
 * What gateways tell each other of providers: circuits and credentials that are left alone. What changed here goes out, and what the
 * others found comes in, in one exchange; nothing is exchanged while nothing changes. Durations go, never times of a clock.
 * docs/routing.md, "On all gateways".
 */
import { setTimeout as sleep } from "node:timers/promises";
import { onceMore } from "../base/once-more.ts";
import type { Catalog, Provider } from "../catalog/index.ts";
import type { Health, Peers, RefusedCredential, ServedModel } from "./health.ts";
import { formOf, placeOf } from "./provider-forms.ts";

/** What a row is about: a circuit, or a credential for all models (`model` is empty) or for one. */
interface Subject {
  readonly kind: "circuit" | "credential";
  readonly provider: string;
  /** The upstream's name of it. */
  readonly model: string;
  /** Of a credential: its id. Empty for a circuit. */
  readonly credential: string;
  /** A digest that tells a provider, or its key, from the one that takes its place. Empty: from a gateway that knew none. */
  readonly mark: string;
}

/** A state that calls of this gateway came to. */
export interface HealthChange extends Subject {
  /** False: the circuit is closed, or the credential works. */
  readonly holds: boolean;
  readonly pauseMs: number;
  /** What is left of the pause. */
  readonly leftMs: number;
}

/** A state that some gateway came to, as it is now. */
export interface HealthRow extends HealthChange {
  readonly gateway: string;
  /** Another one after each change. */
  readonly version: string;
  /** How long the probe of one gateway keeps those of the others away; 0: none is under way. */
  readonly probeLeftMs: number;
}

/** How gateways reach each other. Both reject where the database does not answer. */
export interface PeerLink {
  /** Says what changed, and returns what holds. */
  exchange(gateway: string, changes: readonly HealthChange[]): Promise<readonly HealthRow[]>;
  /** Asks for the probe of a circuit: 0 where it is ours, else the milliseconds until it may be. */
  askProbe(gateway: string, offer: ServedModel, probeMs: number): Promise<number>;
  /** False while signals may be missed. */
  healthy(): boolean;
}

interface PeersOptions {
  readonly health: Health;
  readonly link: PeerLink;
  /** This process's name among them. */
  readonly gateway: string;
  readonly catalog: () => Pick<Catalog, "providers">;
  /** A digest of a secret that says nothing of it. */
  readonly markOf: (secret: string) => string;
  readonly warn: (error: unknown, message: string) => void;
}

/** Changes that one exchange takes; the rest goes with the next. */
const changesMax = 200;
/** Between two exchanges, however much changes. */
const gapMs = 200;
const startMsMax = 500;
const retryMsMin = 500;
const retryMsMax = 5_000;
/** Longer than that no call waits to hear whose the probe is. */
const askMsMax = 250;

/** A state of a circuit or credential, as durations. */
type Report = Pick<HealthChange, "pauseMs" | "leftMs">;

const nameOf = ({ kind, provider, model, credential }: Subject): string =>
  JSON.stringify([kind, provider, model, credential]);

export class HealthPeers implements Peers {
  readonly #options: PeersOptions;
  /** What changed here and was not yet sent. */
  readonly #pending = new Map<string, () => HealthChange>();
  /** The versions that were heard, by what they are about. */
  #heard = new Map<string, string>();
  readonly #exchanges = onceMore(() => this.#exchangeOrPause());
  #retryMs = retryMsMin;
  readonly #first = Promise.withResolvers<void>();
  readonly #closing = new AbortController();

  constructor(options: PeersOptions) {
    this.#options = options;
    options.health.join(this);
  }

  circuitChanged({ provider, upstreamModel }: ServedModel): void {
    const { health } = this.#options;
    const subject = { kind: "circuit" as const, provider, model: upstreamModel, credential: "" };
    this.#tell({ ...subject, mark: this.#markNow(subject) ?? "" }, () =>
      health.of({ provider, upstreamModel }).circuit.report(health.nowMs()),
    );
  }

  credentialChanged(refused: RefusedCredential): void {
    const { health } = this.#options;
    const { provider, id: credential } = refused;
    const model = refused.of === "model" ? refused.model : "";
    const subject = { kind: "credential" as const, provider: provider.id, model, credential };
    const mark = this.#markOf(provider, subject);
    if (mark !== undefined)
      this.#tell({ ...subject, mark }, () => health.credentialReport(refused));
  }

  async askProbe(offer: ServedModel, probeMs: number): Promise<number> {
    const { link, gateway } = this.#options;
    if (!link.healthy()) return 0;
    const asked = link.askProbe(gateway, offer, probeMs).catch(() => 0);
    return Promise.race([asked, sleep(askMsMax, 0, { ref: false })]);
  }

  /** Another gateway changed something, or what it said may have been missed: what holds is asked for. */
  wake(): void {
    this.#exchanges.ask();
  }

  /** Learns what holds. Resolves when that is known, and after half a second at the latest. */
  async start(): Promise<void> {
    this.wake();
    await Promise.race([this.#first.promise, sleep(startMsMax, undefined, { ref: false })]);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#exchanges.idle();
  }

  #tell(subject: Subject, report: () => Report | undefined): void {
    if (this.#closing.signal.aborted) return;
    this.#pending.set(nameOf(subject), () => {
      const known = report();
      const { pauseMs, leftMs } = known ?? { pauseMs: 0, leftMs: 0 };
      const holds = known !== undefined;
      return { ...subject, holds, pauseMs: Math.ceil(pauseMs), leftMs: Math.ceil(leftMs) };
    });
    this.wake();
  }

  async #exchangeOrPause(): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    const pause = (ms: number) =>
      sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);
    try {
      await this.#exchange();
      this.#first.resolve();
      this.#retryMs = retryMsMin;
      await pause(gapMs);
    } catch (error) {
      const { warn } = this.#options;
      if (this.#retryMs === retryMsMin)
        warn(error, "other gateways hear nothing of providers in trouble");
      this.wake();
      await pause(this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, retryMsMax);
    }
  }

  async #exchange(): Promise<void> {
    const { link, gateway } = this.#options;
    const sent = [...this.#pending].slice(0, changesMax);
    for (const [name] of sent) this.#pending.delete(name);
    if (this.#pending.size > 0) this.wake();
    try {
      const changes = sent.map(([, change]) => change());
      this.#hear(await link.exchange(gateway, changes));
    } catch (error) {
      for (const [name, change] of sent)
        if (!this.#pending.has(name)) this.#pending.set(name, change);
      throw error;
    }
  }

  /** Takes in what others said since. What changed here meanwhile is newer. */
  #hear(rows: readonly HealthRow[]): void {
    const heard = new Map<string, string>();
    for (const row of rows) {
      const name = nameOf(row);
      const before = this.#heard.get(name);
      if (this.#pending.has(name)) {
        if (before !== undefined) heard.set(name, before);
        continue;
      }
      const isNew = row.version !== before && row.gateway !== this.#options.gateway;
      // What is configured otherwise here may become the same yet: it is not heard before.
      if (isNew && !this.#isMeant(row)) continue;
      heard.set(name, row.version);
      if (isNew) this.#take(row);
    }
    this.#heard = heard;
  }

  /** Whether a row is about what this gateway has under its name too. Gateways of before marked no circuits. */
  #isMeant(row: HealthRow): boolean {
    return (row.kind === "circuit" && row.mark === "") || row.mark === this.#markNow(row);
  }

  /** The mark of what this gateway has under a name; undefined where it has nothing. */
  #markNow(subject: Omit<Subject, "mark">): string | undefined {
    const provider = this.#options.catalog().providers.get(subject.provider);
    return provider && this.#markOf(provider, subject);
  }

  #markOf(provider: Provider, { kind, credential }: Omit<Subject, "mark">): string | undefined {
    const { markOf } = this.#options;
    if (kind === "circuit") return markOf(formOf(provider));
    const found = provider.credentials.find(({ id }) => id === credential);
    return found && markOf(`${found.apiKey} ${placeOf(provider)}`);
  }

  #take(row: HealthRow): void {
    const { health, catalog } = this.#options;
    const { holds, pauseMs, leftMs, probeLeftMs, credential: id } = row;
    const provider = catalog().providers.get(row.provider);
    if (provider === undefined) return;
    const nowMs = health.nowMs();
    const endMs = nowMs + leftMs;
    if (row.kind === "circuit") {
      const offer = { provider: provider.id, upstreamModel: row.model };
      const probeEndMs = probeLeftMs > 0 ? nowMs + probeLeftMs : 0;
      const report = { by: row.gateway, pauseMs, pauseEndMs: endMs, probeEndMs };
      return health.heardCircuit(offer, holds ? report : undefined);
    }
    const of = row.model === "" ? "credential" : "model";
    const report = holds ? { pauseMs, endMs } : undefined;
    health.heardCredential({ provider, id, of, model: row.model }, report);
  }
}
