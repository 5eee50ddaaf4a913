/**
 * Gateways share the state of circuits and credentials. One exchange sends the changes of this gateway and receives those of the others;
 * there is none while nothing changes. Messages carry durations, never clock times. docs/routing.md, "On all gateways".
 */
import { setTimeout as sleep } from "node:timers/promises";
import { coalesce } from "../base/coalesce.ts";
import type { Catalog, Provider } from "../catalog/index.ts";
import type { Health, Peers, RefusedCredential, ServedModel } from "./health.ts";
import { providerDigest, endpointDigest } from "./provider-digests.ts";

/** The subject of a row: a circuit, or a credential for all models (`model` is empty) or for one. */
interface Subject {
  readonly kind: "circuit" | "credential";
  readonly provider: string;
  /** The model's upstream name. */
  readonly model: string;
  /** The credential's id; empty for a circuit. */
  readonly credential: string;
  /** A digest that changes when a provider, or its key, is replaced. Empty: from an older gateway without marks. */
  readonly mark: string;
}

/** A state that resulted from calls of this gateway. */
export interface HealthChange extends Subject {
  /** True: the circuit is open, or the credential is refused. False: it is closed, or it works. */
  readonly holds: boolean;
  readonly pauseMs: number;
  /** The time left of the pause. */
  readonly leftMs: number;
}

/** A state that a gateway reported, with its current durations. */
export interface HealthRow extends HealthChange {
  readonly gateway: string;
  /** Differs after each change. */
  readonly version: string;
  /** How long the probe of one gateway blocks those of the others; 0: none is in flight. */
  readonly probeLeftMs: number;
}

/** The channel between gateways. `exchange` and `askProbe` reject if the database does not answer. */
export interface PeerLink {
  /** Sends changes, and returns the states that hold. */
  exchange(gateway: string, changes: readonly HealthChange[]): Promise<readonly HealthRow[]>;
  /** Requests the probe of a circuit: 0 if this gateway may send it, else the milliseconds until it may ask again. */
  askProbe(gateway: string, offer: ServedModel, probeMs: number): Promise<number>;
  /** False while notifications may be missed. */
  healthy(): boolean;
}

interface PeersOptions {
  readonly health: Health;
  readonly link: PeerLink;
  /** This process's name among the gateways. */
  readonly gateway: string;
  readonly catalog: () => Pick<Catalog, "providers">;
  /** Returns a digest that does not reveal the secret. */
  readonly markOf: (secret: string) => string;
  readonly warn: (error: unknown, message: string) => void;
}

/** Changes in one exchange, at most; the rest goes with the next one. */
const changesMax = 200;
/** Milliseconds between two exchanges, however much changes. */
const gapMs = 200;
const startMsMax = 500;
const retryMsMin = 500;
const retryMsMax = 5_000;
/** The longest that a call waits for the answer about a probe. */
const askMsMax = 250;

/** The state of a circuit or credential, as durations. */
type Report = Pick<HealthChange, "pauseMs" | "leftMs">;

const nameOf = ({ kind, provider, model, credential }: Subject): string =>
  JSON.stringify([kind, provider, model, credential]);

export class HealthPeers implements Peers {
  readonly #options: PeersOptions;
  /** Changes of this gateway that are not yet sent. */
  readonly #pending = new Map<string, () => HealthChange>();
  /** The last received version of each subject. */
  #receivedVersions = new Map<string, string>();
  readonly #exchanges = coalesce(() => this.#exchangeOrPause());
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
    this.#queueChange({ ...subject, mark: this.#markNow(subject) ?? "" }, () =>
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
      this.#queueChange({ ...subject, mark }, () => health.credentialReport(refused));
  }

  async askProbe(offer: ServedModel, probeMs: number): Promise<number> {
    const { link, gateway } = this.#options;
    if (!link.healthy()) return 0;
    const asked = link.askProbe(gateway, offer, probeMs).catch(() => 0);
    return Promise.race([asked, sleep(askMsMax, 0, { ref: false })]);
  }

  /** Starts an exchange: another gateway changed something, or a notification may have been missed. */
  wake(): void {
    this.#exchanges.ask();
  }

  /** Fetches the current states. Resolves when they are known, after half a second at the latest. */
  async start(): Promise<void> {
    this.wake();
    await Promise.race([this.#first.promise, sleep(startMsMax, undefined, { ref: false })]);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#exchanges.idle();
  }

  #queueChange(subject: Subject, report: () => Report | undefined): void {
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
      this.#applyRows(await link.exchange(gateway, changes));
    } catch (error) {
      for (const [name, change] of sent)
        if (!this.#pending.has(name)) this.#pending.set(name, change);
      throw error;
    }
  }

  /** Applies the changes of other gateways. Pending changes of this gateway are newer and win. */
  #applyRows(rows: readonly HealthRow[]): void {
    const heard = new Map<string, string>();
    for (const row of rows) {
      const name = nameOf(row);
      const before = this.#receivedVersions.get(name);
      if (this.#pending.has(name)) {
        if (before !== undefined) heard.set(name, before);
        continue;
      }
      const isNew = row.version !== before && row.gateway !== this.#options.gateway;
      // A row for another configuration is not marked as received: this gateway may get that configuration later.
      if (isNew && !this.#isMeant(row)) continue;
      heard.set(name, row.version);
      if (isNew) this.#applyRow(row);
    }
    this.#receivedVersions = heard;
  }

  /** True if a row is about the same provider or credential as configured here. Older gateways send circuits without a mark. */
  #isMeant(row: HealthRow): boolean {
    return (row.kind === "circuit" && row.mark === "") || row.mark === this.#markNow(row);
  }

  /** The mark of the provider or credential that is configured here; undefined if there is none. */
  #markNow(subject: Omit<Subject, "mark">): string | undefined {
    const provider = this.#options.catalog().providers.get(subject.provider);
    return provider && this.#markOf(provider, subject);
  }

  #markOf(provider: Provider, { kind, credential }: Omit<Subject, "mark">): string | undefined {
    const { markOf } = this.#options;
    if (kind === "circuit") return markOf(providerDigest(provider));
    const found = provider.credentials.find(({ id }) => id === credential);
    return found && markOf(`${found.apiKey} ${endpointDigest(provider)}`);
  }

  #applyRow(row: HealthRow): void {
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
      return health.applyCircuitReport(offer, holds ? report : undefined);
    }
    const of = row.model === "" ? "credential" : "model";
    const report = holds ? { pauseMs, endMs } : undefined;
    health.applyCredentialReport({ provider, id, of, model: row.model }, report);
  }
}
