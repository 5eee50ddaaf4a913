/**
 * Chooses the credential of an attempt: by weight, among those that no vendor has refused lately. A credential that a vendor refuses or
 * limits is not used for a while. docs/routing.md. Refusals at other gateways count like those at this one.
 */
import { hourMs } from "../base/durations.ts";
import type { Credential, Provider } from "../catalog/index.ts";
import { endpointDigest } from "./provider-digests.ts";
import { rendezvous } from "./rendezvous.ts";

/** The consequence of a refusal for the credential that was used. */
export interface CredentialRefusal {
  /** `credential`: refused for all models. `model`: for this one only, such as a rate limit. */
  readonly of: "credential" | "model";
  /** The pause that the vendor asks for, in milliseconds. Absent: it names no time. */
  readonly retryAfterMs?: number | undefined;
  /** True if only this gateway lacks the credential: the others are not told. */
  readonly isOwn?: boolean | undefined;
}

export interface CoolDownRules {
  /** The first pause if the vendor names no time; each further refusal doubles it. */
  readonly firstPauseMs: number;
  readonly pauseMsMax: number;
}

/** A rate limit ends soon; a refused credential, or an account without money, takes longer. */
export interface CredentialRules {
  readonly limited: CoolDownRules;
  readonly refused: CoolDownRules;
}

export const defaultCredentialRules: CredentialRules = {
  limited: { firstPauseMs: 2_000, pauseMsMax: 60_000 },
  refused: { firstPauseMs: 30_000, pauseMsMax: 600_000 },
};

/** The longest pause that a vendor can ask for: one answer must not shut a credential out for a day. */
const retryAfterMsMax = hourMs;

interface CoolDown {
  readonly beganMs: number;
  readonly endMs: number;
  readonly pauseMs: number;
}

/** A refusal at another gateway: the length of its pause, and its end on the clock of the gateway that receives the report. */
export interface CoolDownReport {
  readonly pauseMs: number;
  readonly endMs: number;
}

/** The longest pause by a report of another gateway; then a call of this gateway tries the credential. */
const reportedMsMax = 600_000;

/** A provider and one of its models. */
interface Use {
  readonly provider: Provider;
  /** The model's upstream name. */
  readonly model: string;
}

/** Contains the key and the endpoint's digest: a refusal says nothing of the key that replaces it, or of another address. */
const allModelsKey = ({ provider }: Pick<Use, "provider">, id: string): string => {
  const key = provider.credentials.find((credential) => credential.id === id)?.apiKey ?? "";
  return `${provider.id} ${id} ${key} ${endpointDigest(provider)}`;
};
const oneModelKey = (use: Use, id: string): string => `${allModelsKey(use, id)} ${use.model}`;
const nameOf = { credential: allModelsKey, model: oneModelKey };
const scopes = ["credential", "model"] as const;

/** Returns the credential of a session. `free` is not empty. */
const credentialOfSession = (free: readonly Credential[], session: string): Credential =>
  rendezvous(`key\0${session}`, free, ({ id: name, weight }) => ({ name, weight })) ?? free[0]!;

interface Picking {
  readonly session?: string | undefined;
  readonly asked?: ReadonlySet<string> | undefined;
}

const none: ReadonlySet<string> = new Set();

export class Credentials {
  readonly #rules: CredentialRules;
  readonly #random: () => number;
  /** Cool-downs of credentials that were refused and have not worked since; usually empty. */
  readonly #coolDowns = new Map<string, CoolDown>();

  constructor(rules: CredentialRules, random: () => number) {
    this.#rules = rules;
    this.#random = random;
  }

  /** True if the provider has a credential that can be used now and is not among `asked`. */
  ready(use: Use, nowMs: number, asked = none): boolean {
    if (asked.size === 0) return this.readyAtMs(use, nowMs) <= nowMs;
    return use.provider.credentials.some(({ id }) => this.#isFree(use, id, nowMs, asked));
  }

  #isFree(use: Use, id: string, nowMs: number, asked: ReadonlySet<string>): boolean {
    return !asked.has(id) && this.#endMs(use, id) <= nowMs;
  }

  /** The time when the first of the provider's credentials can be used; at most `nowMs` if one can be used now. */
  readyAtMs(use: Use, nowMs: number): number {
    if (this.#coolDowns.size === 0) return nowMs;
    let first = Infinity;
    for (const { id } of use.provider.credentials) first = Math.min(first, this.#endMs(use, id));
    return first;
  }

  /**
   * Picks a credential by weight among the usable ones; if there is none, the one that is usable first. Calls of one `session` get the same
   * credential on every gateway, as long as it is usable. Those in `asked` are skipped while another one is usable.
   */
  pick(use: Use, nowMs: number, { session, asked = none }: Picking = {}): Credential {
    const { credentials } = use.provider;
    if (credentials.length === 1) return credentials[0]!;
    const free =
      this.#coolDowns.size + asked.size === 0
        ? credentials
        : credentials.filter(({ id }) => this.#isFree(use, id, nowMs, asked));
    if (free.length > 0)
      return session === undefined ? this.#byWeight(free) : credentialOfSession(free, session);
    return credentials.reduce((soonest, one) =>
      this.#endMs(use, one.id) < this.#endMs(use, soonest.id) ? one : soonest,
    );
  }

  /** The end of a credential's cool-down, and whether it holds for this model only; undefined if it is usable. */
  coolDown(
    use: Use,
    id: string,
    nowMs: number,
  ): { readonly endMs: number; readonly of: CredentialRefusal["of"] } | undefined {
    const [all, one] = [allModelsKey, oneModelKey].map(
      (name) => this.#coolDowns.get(name(use, id))?.endMs ?? 0,
    );
    if (Math.max(all!, one!) <= nowMs) return undefined;
    return all! >= one! ? { endMs: all!, of: "credential" } : { endMs: one!, of: "model" };
  }

  /** Starts the cool-down of a refused credential. */
  refused(use: Use, id: string, refusal: CredentialRefusal, nowMs: number): void {
    const name = nameOf[refusal.of](use, id);
    const rules = this.#rulesOf(refusal.of);
    const before = this.#coolDowns.get(name);
    // A credential that this gateway lacks is fetched again in the background, and no other gateway reports that it works.
    const grownMs = refusal.isOwn === true ? 0 : (before?.pauseMs ?? 0) * 2;
    // Concurrent calls that are refused count as one refusal.
    const pauseMs =
      before !== undefined && before.endMs > nowMs
        ? before.pauseMs
        : Math.min(Math.max(grownMs, rules.firstPauseMs), rules.pauseMsMax);
    const askedMs = Math.min(refusal.retryAfterMs ?? 0, retryAfterMsMax);
    const endMs = Math.max(nowMs + (askedMs > 0 ? askedMs : pauseMs), before?.endMs ?? 0);
    if (rules.pauseMsMax > 0) this.#coolDowns.set(name, { beganMs: nowMs, endMs, pauseMs });
  }

  /** Ends the cool-downs that had begun by `begunMs`, when the successful call began. Returns the ones that ended. */
  worked(use: Use, id: string, begunMs: number): readonly CredentialRefusal["of"][] {
    if (this.#coolDowns.size === 0) return [];
    return scopes.filter((of) => {
      const name = nameOf[of](use, id);
      const coolDown = this.#coolDowns.get(name);
      // A call that was in flight at the refusal says nothing about the time after it.
      return coolDown !== undefined && begunMs >= coolDown.beganMs && this.#coolDowns.delete(name);
    });
  }

  /** The report for other gateways: the pause and the time left of it; undefined without a cool-down. */
  report(use: Use, id: string, of: CredentialRefusal["of"], nowMs: number) {
    const known = this.#coolDowns.get(nameOf[of](use, id));
    if (known === undefined) return undefined;
    return { pauseMs: known.pauseMs, leftMs: Math.max(known.endMs - nowMs, 0) };
  }

  /** Applies another gateway's report about a credential; undefined: it worked there. */
  applyReport(
    use: Use,
    id: string,
    of: CredentialRefusal["of"],
    { report, nowMs }: { readonly report: CoolDownReport | undefined; readonly nowMs: number },
  ): void {
    const name = nameOf[of](use, id);
    const { pauseMsMax } = this.#rulesOf(of);
    if (report === undefined) {
      this.#coolDowns.delete(name);
      return;
    }
    const reportedMs = Math.min(report.endMs, nowMs + reportedMsMax);
    const endMs = Math.max(reportedMs, this.#coolDowns.get(name)?.endMs ?? 0);
    const pauseMs = Math.min(report.pauseMs, pauseMsMax);
    if (pauseMsMax > 0) this.#coolDowns.set(name, { beganMs: nowMs, endMs, pauseMs });
  }

  /** Drops the cool-downs of credentials that a changed provider no longer has. `now` is undefined if the provider is gone. */
  keep(providerId: string, now: Provider | undefined): void {
    const kept = now?.credentials.map(({ id }) => allModelsKey({ provider: now }, id)) ?? [];
    for (const name of this.#coolDowns.keys())
      if (name.startsWith(`${providerId} `) && !kept.some((one) => name.startsWith(one)))
        this.#coolDowns.delete(name);
  }

  #rulesOf(of: CredentialRefusal["of"]): CoolDownRules {
    return of === "credential" ? this.#rules.refused : this.#rules.limited;
  }

  #endMs(use: Use, id: string): number {
    return Math.max(
      this.#coolDowns.get(allModelsKey(use, id))?.endMs ?? 0,
      this.#coolDowns.get(oneModelKey(use, id))?.endMs ?? 0,
    );
  }

  #byWeight(free: readonly Credential[]): Credential {
    const total = free.reduce((sum, { weight }) => sum + weight, 0);
    let point = this.#random() * total;
    for (const credential of free) {
      point -= credential.weight;
      if (point < 0) return credential;
    }
    return free[0]!;
  }
}
