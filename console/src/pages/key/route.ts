/** `/keys/{id}`: one key. Its tab and the period of its use are in the address. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { shellRoute } from "../root.ts";

export const keyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/keys/$id",
  validateSearch: (search: Record<string, unknown>) => pick(search, ["tab", "period"]),
  component: lazyRouteComponent(() => import("./page.tsx"), "KeyPage"),
});
