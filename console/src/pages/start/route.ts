/** `/start`: guides to a first call. */
import { createRoute } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

export const startRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/start",
  validateSearch: (search: Record<string, unknown>) => pick(search, ["model"]),
  component: lazyPage(() => import("./page.tsx"), "StartPage"),
});
