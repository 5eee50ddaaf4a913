/** Loads the resources of cloud providers before the first call: libraries, some of which take half a second, and credentials. */
import { limitConcurrency } from "../base/concurrency-limit.ts";
import type { Log } from "../base/log.ts";
import { memoizeByObject } from "../base/memoize.ts";
import type { Provider } from "../catalog/index.ts";
import { identityOf, keepOnly, type Identity } from "./identity/index.ts";
import { maskError } from "./masking.ts";
import type { Pools } from "./pools.ts";
import { vendorOf } from "./vendors/index.ts";

/** One load after the other, so that the newest providers decide whose credentials are kept. */
const turnOf = memoizeByObject((_pools: Pools) => limitConcurrency(1));

/**
 * Loads the libraries that these providers need, one after the other, and then fetches their credentials, while the gateway serves.
 * Credentials are renewed before they expire, as long as a provider has them. Never rejects. If a library cannot be loaded, the call that
 * needs it fails; a failed fetch of a credential is retried.
 */
export const loadClouds = (
  pools: Pools,
  providers: () => Iterable<Provider>,
  log: Log,
): Promise<void> => turnOf(pools)(() => load(pools, providers(), log));

async function load(pools: Pools, providers: Iterable<Provider>, log: Log): Promise<void> {
  const identities = new Map<Identity, Provider>();
  for (const provider of providers) {
    try {
      const identity = identityOf(provider, pools);
      if (identity) identities.set(identity, provider);
      await identity?.load();
      await vendorOf(provider.dialect).load?.();
    } catch {
      // The call that needs it reports the error with its name.
    }
  }
  keepOnly(new Set(identities.keys()), pools);
  for (const [identity, provider] of identities) {
    const warn = (message: string) => (err: unknown) => {
      maskError(provider, err);
      log.warn({ provider: provider.id, err }, message);
    };
    identity
      .keep(warn("the credential of this provider could not be renewed"))
      .catch(warn("no credential for this provider yet"));
  }
}
