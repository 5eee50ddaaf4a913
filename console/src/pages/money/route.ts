/** `/money`: what a workspace has left, who may spend how much of it, and whether the ledger adds up. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";

export const moneyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/money",
  component: lazyRouteComponent(() => import("./page.tsx"), "MoneyPage"),
});
