/** `/requests/:id`: one call, explained. The URL has the parameters of its list. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../../ui/lazy-page.ts";
import { shellRoute } from "../../root.ts";
import { listOf } from "../filters.ts";

export const requestRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/requests/$id",
  validateSearch: listOf,
  component: lazyPage(() => import("./page.tsx"), "RequestPage"),
});
