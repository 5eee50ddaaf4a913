/**
 * Which of a provider's credentials an attempt uses: by weight, among those that a vendor has not refused lately. A vendor that
 * limits one credential's rate or refuses it is not asked with it for a while. docs/routing.md. What other gateways were
 * refused is an input like what this one was.
 */
import { hourMs } from "../base/durations.ts";
import type { Credential, Provider } from "../catalog/index.ts";
import { placeOf } from "./provider-forms.ts";
import { rendezvous } from "./rendezvous.ts";

/** What a refusal says of the credential it was given with. */
export interface CredentialRefusal {
  /** `credential`: the credential works for no model. `model`: not for this one, such as a limited rate. */
  readonly of: "credential" | "model";
  /** How long the vendor asks to be left alone. Absent: it names no time. */
  readonly retryAfterMs?: number | undefined;
}

export interface CoolDownRules {
  /** Where the vendor names no time: the first pause; each further refusal doubles it. */
  readonly firstPauseMs: number;
  readonly pauseMsMax: number;
}

/** A rate that is limited is free again soon; a credential that is refused, or an account without money, is not. */
export interface CredentialRules {
  readonly limited: CoolDownRules;
  readonly refused: CoolDownRules;
}

export const defaultCredentialRules: CredentialRules = {
  limited: { firstPauseMs: 2_000, pauseMsMax: 60_000 },
  refused: { firstPauseMs: 30_000, pauseMsMax: 600_000 },
};

/** A pause that a vendor asks for counts up to here: one answer must not shut a credential out for a day. */
const toldMsMax = hourMs;

interface CoolDown {
  readonly beganMs: number;
  readonly endMs: number;
  readonly pauseMs: number;
}

/** Another gateway was refused: how long its pause is, and when it ends by the clock of the one that hears of it. */
export interface CoolDownReport {
  readonly pauseMs: number;
  readonly endMs: number;
}

/** What another gateway reports keeps a credential away for no longer than this; then a call of our own asks. */
const heardMsMax = 600_000;

/** One credential for one of the provider's models. */
interface Use {
  readonly provider: Provider;
  /** The upstream's name of the model. */
  readonly model: string;
}

/** By the key itself and its place too: what a vendor said of a credential holds neither for its successor nor at another address. */
const wide = ({ provider }: Pick<Use, "provider">, id: string): string => {
  const key = provider.credentials.find((credential) => credential.id === id)?.apiKey ?? "";
  return `${provider.id} ${id} ${key} ${placeOf(provider)}`;
};
const narrow = (use: Use, id: string): string => `${wide(use, id)} ${use.model}`;
const nameOf = { credential: wide, model: narrow };
const scopes = ["credential", "model"] as const;

/** The credential of a session. `free` is not empty. */
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
  /** Of credentials that were refused and have not worked since: nearly always none. */
  readonly #coolDowns = new Map<string, CoolDown>();

  constructor(rules: CredentialRules, random: () => number) {
    this.#rules = rules;
    this.#random = random;
  }

  /** True where the provider has a credential that can be used now, and is not among `asked`. */
  ready(use: Use, nowMs: number, asked = none): boolean {
    if (asked.size === 0) return this.readyAtMs(use, nowMs) <= nowMs;
    return use.provider.credentials.some(({ id }) => this.#isFree(use, id, nowMs, asked));
  }

  #isFree(use: Use, id: string, nowMs: number, asked: ReadonlySet<string>): boolean {
    return !asked.has(id) && this.#endMs(use, id) <= nowMs;
  }

  /** When the first of the provider's credentials can be used; not after `nowMs` where one can be used now. */
  readyAtMs(use: Use, nowMs: number): number {
    if (this.#coolDowns.size === 0) return nowMs;
    let first = Infinity;
    for (const { id } of use.provider.credentials) first = Math.min(first, this.#endMs(use, id));
    return first;
  }

  /**
   * A credential to ask with: by weight among those that can be used; where none can, the one that can soonest. Calls of one
   * `session` get the same credential, on every gateway, as long as it can be used. Those of `asked` are left out while another is free.
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

  /** Until when a credential is left alone, and whether it was refused for this model only; undefined where it can be used. */
  coolDown(
    use: Use,
    id: string,
    nowMs: number,
  ): { readonly endMs: number; readonly of: CredentialRefusal["of"] } | undefined {
    const [all, one] = [wide, narrow].map((name) => this.#coolDowns.get(name(use, id))?.endMs ?? 0);
    if (Math.max(all!, one!) <= nowMs) return undefined;
    return all! >= one! ? { endMs: all!, of: "credential" } : { endMs: one!, of: "model" };
  }

  /** A credential was refused: it is left alone for a while. */
  refused(use: Use, id: string, refusal: CredentialRefusal, nowMs: number): void {
    const name = nameOf[refusal.of](use, id);
    const rules = this.#rulesOf(refusal.of);
    const before = this.#coolDowns.get(name);
    // Several calls may be refused at the same moment: that is one refusal.
    const pauseMs =
      before !== undefined && before.endMs > nowMs
        ? before.pauseMs
        : Math.min(Math.max((before?.pauseMs ?? 0) * 2, rules.firstPauseMs), rules.pauseMsMax);
    const askedMs = Math.min(refusal.retryAfterMs ?? 0, toldMsMax);
    const endMs = Math.max(nowMs + (askedMs > 0 ? askedMs : pauseMs), before?.endMs ?? 0);
    if (rules.pauseMsMax > 0) this.#coolDowns.set(name, { beganMs: nowMs, endMs, pauseMs });
  }

  /** A credential worked in a call that began at `begunMs`: what was held against it by then is over. Returns what that was. */
  worked(use: Use, id: string, begunMs: number): readonly CredentialRefusal["of"][] {
    if (this.#coolDowns.size === 0) return [];
    return scopes.filter((of) => {
      const name = nameOf[of](use, id);
      const coolDown = this.#coolDowns.get(name);
      // A call that was under way when the credential was refused says nothing about what came after.
      return coolDown !== undefined && begunMs >= coolDown.beganMs && this.#coolDowns.delete(name);
    });
  }

  /** What other gateways are to hear of a credential: its pause and what is left of it; undefined where nothing is held against it. */
  report(use: Use, id: string, of: CredentialRefusal["of"], nowMs: number) {
    const known = this.#coolDowns.get(nameOf[of](use, id));
    if (known === undefined) return undefined;
    return { pauseMs: known.pauseMs, leftMs: Math.max(known.endMs - nowMs, 0) };
  }

  /** Another gateway was refused with a credential; undefined: it worked there. */
  heard(
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
    const heardMs = Math.min(report.endMs, nowMs + heardMsMax);
    const endMs = Math.max(heardMs, this.#coolDowns.get(name)?.endMs ?? 0);
    const pauseMs = Math.min(report.pauseMs, pauseMsMax);
    if (pauseMsMax > 0) this.#coolDowns.set(name, { beganMs: nowMs, endMs, pauseMs });
  }

  /** A provider has changed: what is held against credentials that it has no more is over. `now` is absent where it is gone. */
  keep(providerId: string, now: Provider | undefined): void {
    const kept = now?.credentials.map(({ id }) => wide({ provider: now }, id)) ?? [];
    for (const name of this.#coolDowns.keys())
      if (name.startsWith(`${providerId} `) && !kept.some((one) => name.startsWith(one)))
        this.#coolDowns.delete(name);
  }

  #rulesOf(of: CredentialRefusal["of"]): CoolDownRules {
    return of === "credential" ? this.#rules.refused : this.#rules.limited;
  }

  #endMs(use: Use, id: string): number {
    return Math.max(
      this.#coolDowns.get(wide(use, id))?.endMs ?? 0,
      this.#coolDowns.get(narrow(use, id))?.endMs ?? 0,
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
