/** What clouds need before the first call to them: libraries, some of which take half a second, and credentials. */
import type { Log } from "../base/log.ts";
import type { Provider } from "../catalog/index.ts";
import { identityOf, keepOnly, type Identity } from "./identity/index.ts";
import type { Pools } from "./pools.ts";
import { vendorOf } from "./vendors/index.ts";

/**
 * Loads the libraries that these providers need, one after the other, and then fetches their credentials, while the gateway
 * serves. The credentials are renewed ahead of their end for as long as a provider has them. Never rejects: a library that
 * cannot be loaded is the failure of the call that needs it, and a credential that cannot be fetched is tried again.
 */
export async function loadClouds(
  pools: Pools,
  providers: Iterable<Provider>,
  log: Log,
): Promise<void> {
  const identities = new Map<Identity, Provider>();
  for (const provider of providers) {
    try {
      const identity = identityOf(provider, pools);
      if (identity) identities.set(identity, provider);
      await identity?.load();
      await vendorOf(provider.dialect).load?.();
    } catch {
      // Told by name where it is needed.
    }
  }
  keepOnly(new Set(identities.keys()), pools);
  await Promise.all(
    [...identities].map(async ([identity, { id }]) => {
      try {
        await identity.keep();
      } catch (error) {
        log.warn({ provider: id, err: error }, "no credential for this provider yet");
      }
    }),
  );
}
