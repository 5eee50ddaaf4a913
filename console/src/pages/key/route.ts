/** `/keys/{id}`: one key. Its tab is in the address. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { shellRoute } from "../root.ts";

export const keyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/keys/$id",
  validateSearch: (search: Record<string, unknown>) => pick(search, ["tab"]),
  component: lazyRouteComponent(() => import("./page.tsx"), "KeyPage"),
});
