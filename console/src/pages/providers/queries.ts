/** Queries of the provider pages. The stream delivers provider states, and announces changed numbers. */
import { api } from "../../api/client.ts";
import { useProviderStates } from "../../ui/use-provider-states.ts";
import { useRenewal } from "../../ui/use-renewal.ts";

const list = api.queryOptions("get", "/admin/v1/providers", {}).queryKey;

/** All providers. There are few: one response lists all. */
export function useProviders() {
  useRenewal({ topics: ["providers"], reads: [list] });
  return useProviderStates();
}

/** The models of a provider, with all their offers. */
export function useModelsOf(provider: string, isNeeded: boolean) {
  const init = { params: { query: { provider } } };
  const { queryKey } = api.queryOptions("get", "/admin/v1/models", init);
  useRenewal({ topics: ["providers"], enabled: isNeeded, reads: [queryKey] });
  return api.useQuery("get", "/admin/v1/models", init, { enabled: isNeeded });
}
