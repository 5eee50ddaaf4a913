/** `/money`: a workspace's balance and caps, and the check of the ledger. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

export const moneyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/money",
  component: lazyPage(() => import("./page.tsx"), "MoneyPage"),
});
