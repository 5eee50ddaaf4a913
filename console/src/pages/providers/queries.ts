/** What the pages of providers ask for. Their states come by the stream; it says too when their numbers are others. */
import { api } from "../../api/client.ts";
import { useProviderStates } from "../../ui/use-provider-states.ts";
import { useRenewal } from "../../ui/use-renewal.ts";

const list = api.queryOptions("get", "/admin/v1/providers", {}).queryKey;

/** All providers; there are few of them, and one answer has them all. */
export function useProviders() {
  useRenewal({ topics: ["providers"], reads: [list] });
  return useProviderStates();
}

/** The models that a provider offers, each with everybody who does. */
export function useModelsOf(provider: string, isNeeded: boolean) {
  const init = { params: { query: { provider } } };
  const { queryKey } = api.queryOptions("get", "/admin/v1/models", init);
  useRenewal({ topics: ["providers"], enabled: isNeeded, reads: [queryKey] });
  return api.useQuery("get", "/admin/v1/models", init, { enabled: isNeeded });
}
