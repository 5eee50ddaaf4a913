/** Follows changes of the providers: the libraries of their clouds are loaded, and wrongly copied keys are reported. */
import type { Log } from "../base/log.ts";
import { keyMistakes, type Provider } from "../catalog/index.ts";
import { loadClouds, type Pools } from "../upstream/index.ts";

export interface ProviderWatch {
  /** To be called when the providers may have changed. Does nothing before `use`. */
  look(): void;
  /** Sets the connections through which clouds are loaded from now on. */
  use(pools: Pools): void;
}

/** Each mistake in a key is logged once, and again if it comes back. */
export function createProviderWatch(log: Log, providers: () => Iterable<Provider>): ProviderWatch {
  let pools: Pools | undefined;
  let reported = new Set<string>();
  return {
    look() {
      if (pools === undefined) return;
      const mistakes = new Set(keyMistakes(providers()));
      for (const line of mistakes) if (!reported.has(line)) log.warn({}, line);
      reported = mistakes;
      void loadClouds(pools, providers, log);
    },
    use: (made) => void (pools = made),
  };
}
