/** What the pages of providers ask for. They stay current by asking again while they are seen. */
import { api } from "../../api/client.ts";

const againMs = 10_000;

/** All providers; there are few of them, and one answer has them all. */
export const useProviders = () =>
  api.useQuery("get", "/admin/v1/providers", {}, { refetchInterval: againMs });

/** The models that a provider offers, each with everybody who does. */
export const useModelsOf = (provider: string, isNeeded: boolean) =>
  api.useQuery(
    "get",
    "/admin/v1/models",
    { params: { query: { provider } } },
    { enabled: isNeeded, refetchInterval: againMs },
  );
