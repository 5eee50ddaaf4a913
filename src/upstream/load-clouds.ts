/** The libraries of clouds, loaded ahead of the first call that needs them: some take half a second. */
import type { Provider } from "../catalog/index.ts";
import { identityOf } from "./identity/index.ts";
import { vendorOf } from "./vendors/index.ts";

/**
 * Loads what these providers need, one after the other, while the gateway serves. A library that cannot be loaded is the
 * failure of the call that needs it.
 */
export async function loadClouds(providers: Iterable<Provider>): Promise<void> {
  for (const provider of providers) {
    try {
      await identityOf(provider)?.load();
      await vendorOf(provider.dialect).load?.();
    } catch {
      // Told by name where it is needed.
    }
  }
}
