/**
 * Azure (Foundry): models are called by their deployments. `.../openai/v1` and `.../anthropic/v1` have the vendors' own shapes.
 * `.../openai` with `api-version` in the query is the older form, with the deployment in the path. docs/azure.md.
 */
import { isOlderAzure } from "../../catalog/index.ts";
import type { Vendor } from "./types.ts";

export const azure: Vendor = {
  path(own, { provider, protocol, model }) {
    // The Responses API never had the deployment in the path.
    if (!isOlderAzure(provider.baseUrl) || protocol === "responses") return own;
    return `/deployments/${encodeURIComponent(model)}${own}`;
  },
};
