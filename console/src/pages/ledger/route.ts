/** `/money/ledger`: every entry of a workspace's ledger, newest first. Filters are in the URL. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";
import { filtersOf } from "./filters.ts";

export const ledgerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/money/ledger",
  validateSearch: filtersOf,
  component: lazyPage(() => import("./page.tsx"), "LedgerPage"),
});
