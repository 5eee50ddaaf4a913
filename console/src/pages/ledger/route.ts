/** `/money/ledger`: every entry of a workspace's ledger, newest first. Filters are in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";
import { filtersOf } from "./filters.ts";

export const ledgerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/money/ledger",
  validateSearch: filtersOf,
  component: lazyRouteComponent(() => import("./page.tsx"), "LedgerPage"),
});
