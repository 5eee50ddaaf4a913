/** `/settings/alerts`. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

export const alertsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/alerts",
  component: lazyPage(() => import("./page.tsx"), "AlertsPage"),
});
