/** `/money`: a workspace's balance and caps, and the check of the ledger. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";

export const moneyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/money",
  component: lazyRouteComponent(() => import("./page.tsx"), "MoneyPage"),
});
