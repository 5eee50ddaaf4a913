/** `/keys/{id}`: one key. Its tab and the period of its use are in the address. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { fit, pick } from "../../base/search.ts";
import { shellRoute } from "../root.ts";

export const keyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/keys/$id",
  validateSearch: (search: Record<string, unknown>) =>
    fit(pick(search, ["tab", "period"]), {
      tab: ["use", "caps", "models", "routing", "history"],
      period: ["24h", "7d", "30d"],
    }),
  component: lazyRouteComponent(() => import("./page.tsx"), "KeyPage"),
});
