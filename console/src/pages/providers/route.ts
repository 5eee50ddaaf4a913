/** `/providers` and `/providers/:id`: the providers and their state. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { shellRoute } from "../root.ts";

const providersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/providers",
  validateSearch: (search: Record<string, unknown>) => pick(search, ["q", "add"]),
  component: lazyRouteComponent(() => import("./page.tsx"), "ProvidersPage"),
});

const providerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/providers/$id",
  component: lazyRouteComponent(() => import("./one.tsx"), "ProviderPage"),
  // Typed keys, edited settings and the result of a test belong to one provider.
  remountDeps: ({ params }) => params,
});

export const providerRoutes = [providersRoute, providerRoute] as const;
