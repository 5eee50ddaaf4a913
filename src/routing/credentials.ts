/**
 * Which of a provider's keys an attempt uses: by weight, among those that a vendor has not refused lately. A vendor that
 * limits one key's rate or refuses it is not asked with it for a while. docs/routing.md. State of this process only.
 */
import type { Credential, Provider } from "../catalog/index.ts";

/** What a refusal says of the key it was given with. */
export interface CredentialRefusal {
  /** `credential`: the key works for no model. `model`: not for this one, such as a limited rate. */
  readonly of: "credential" | "model";
  /** How long the vendor asks to be left alone. Absent: it names no time. */
  readonly retryAfterMs?: number | undefined;
}

export interface CoolDownRules {
  /** Where the vendor names no time: the first pause; each further refusal doubles it. */
  readonly firstPauseMs: number;
  readonly pauseMsMax: number;
}

/** A rate that is limited is free again soon; a key that is refused, or an account without money, is not. */
export interface CredentialRules {
  readonly limited: CoolDownRules;
  readonly refused: CoolDownRules;
}

export const defaultCredentialRules: CredentialRules = {
  limited: { firstPauseMs: 2_000, pauseMsMax: 60_000 },
  refused: { firstPauseMs: 30_000, pauseMsMax: 600_000 },
};

/** A vendor's own word counts up to here: what it says once must not shut a key out for a day. */
const toldMsMax = 3_600_000;

interface CoolDown {
  readonly beganMs: number;
  readonly endMs: number;
  readonly pauseMs: number;
}

/** One key for one of the provider's models. */
interface Use {
  readonly provider: Provider;
  /** The upstream's name of the model. */
  readonly model: string;
}

/** By the key itself too: what a vendor said of a key does not hold for the one that took its place. */
const wide = ({ provider }: Use, id: string): string => {
  const key = provider.credentials.find((credential) => credential.id === id)?.apiKey ?? "";
  return `${provider.id} ${id} ${key}`;
};
const narrow = (use: Use, id: string): string => `${wide(use, id)} ${use.model}`;

export class Credentials {
  readonly #rules: CredentialRules;
  readonly #random: () => number;
  /** Of keys that were refused and have not worked since: nearly always none. */
  readonly #coolDowns = new Map<string, CoolDown>();

  constructor(rules: CredentialRules, random: () => number) {
    this.#rules = rules;
    this.#random = random;
  }

  /** True where the provider has a key that can be used now. */
  ready(use: Use, nowMs: number): boolean {
    return this.readyAtMs(use, nowMs) <= nowMs;
  }

  /** When the first of the provider's keys can be used; not after `nowMs` where one can be used now. */
  readyAtMs(use: Use, nowMs: number): number {
    if (this.#coolDowns.size === 0) return nowMs;
    let first = Infinity;
    for (const { id } of use.provider.credentials) first = Math.min(first, this.#endMs(use, id));
    return first;
  }

  /** A key to ask with: by weight among those that can be used; where none can, the one that can soonest. */
  pick(use: Use, nowMs: number): Credential {
    const { credentials } = use.provider;
    if (credentials.length === 1) return credentials[0]!;
    const free =
      this.#coolDowns.size === 0
        ? credentials
        : credentials.filter(({ id }) => this.#endMs(use, id) <= nowMs);
    if (free.length > 0) return this.#byWeight(free);
    return credentials.reduce((soonest, one) =>
      this.#endMs(use, one.id) < this.#endMs(use, soonest.id) ? one : soonest,
    );
  }

  /** Until when a key is left alone, and whether it was refused for this model only; undefined where it can be used. */
  coolDown(
    use: Use,
    id: string,
    nowMs: number,
  ): { readonly endMs: number; readonly of: CredentialRefusal["of"] } | undefined {
    const [all, one] = [wide, narrow].map((name) => this.#coolDowns.get(name(use, id))?.endMs ?? 0);
    if (Math.max(all!, one!) <= nowMs) return undefined;
    return all! >= one! ? { endMs: all!, of: "credential" } : { endMs: one!, of: "model" };
  }

  /** A key was refused: it is left alone for a while. */
  refused(use: Use, id: string, refusal: CredentialRefusal, nowMs: number): void {
    const name = refusal.of === "credential" ? wide(use, id) : narrow(use, id);
    const rules = refusal.of === "credential" ? this.#rules.refused : this.#rules.limited;
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

  /** A key worked in a call that began at `begunMs`: what was held against it by then is over. */
  worked(use: Use, id: string, begunMs: number): void {
    if (this.#coolDowns.size === 0) return;
    for (const name of [wide(use, id), narrow(use, id)]) {
      const coolDown = this.#coolDowns.get(name);
      // A call that was under way when the key was refused says nothing about what came after.
      if (coolDown !== undefined && begunMs >= coolDown.beganMs) this.#coolDowns.delete(name);
    }
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
