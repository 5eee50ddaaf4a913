/** `/providers` and `/providers/:id`: the providers and their state. */
import { createRoute } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

const providersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/providers",
  validateSearch: (search: Record<string, unknown>) => pick(search, ["q", "add"]),
  component: lazyPage(() => import("./page.tsx"), "ProvidersPage"),
});

const providerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/providers/$id",
  component: lazyPage(() => import("./one.tsx"), "ProviderPage"),
  // Typed keys, edited settings and the result of a test belong to one provider.
  remountDeps: ({ params }) => params,
});

export const providerRoutes = [providersRoute, providerRoute] as const;
