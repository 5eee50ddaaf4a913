/**
 * Detects changed providers. With another address, dialect, access or keys a provider counts as a new one: the pause of the old one says
 * nothing about it. docs/routing.md "When one fails".
 */
import { createHash } from "node:crypto";
import { memoizeByObject } from "../base/memoize.ts";
import type { Provider } from "../catalog/index.ts";

const digestOf = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("base64url");

/** A digest of a provider's address, dialect and access, without its keys. */
export const endpointDigest = memoizeByObject(({ dialect, baseUrl, access, guarded }: Provider) =>
  digestOf({ dialect, baseUrl, access, guarded }),
);

/** A digest of the same, with its keys. */
export const providerDigest = memoizeByObject((provider: Provider) =>
  digestOf([endpointDigest(provider), provider.credentials.map(({ id, apiKey }) => [id, apiKey])]),
);

/** The providers of a catalogue, by id. */
export type Providers = ReadonlyMap<string, Provider>;

export class ProviderDigests {
  #providers: Providers | undefined;
  #forms: ReadonlyMap<string, string> = new Map();

  /** Returns the ids of providers that changed or were removed since the last call. Costs nothing while the map is the same object. */
  changed(providers: Providers): readonly string[] {
    if (providers === this.#providers) return none;
    const forms = new Map(
      [...providers].map(([id, provider]) => [id, providerDigest(provider)] as const),
    );
    const before = this.#forms;
    this.#providers = providers;
    this.#forms = forms;
    return [...before].filter(([id, form]) => forms.get(id) !== form).map(([id]) => id);
  }
}

const none: readonly string[] = [];
