/** `/settings/hooks`: the operator's own checks of calls, and their state. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

export const hooksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/hooks",
  component: lazyPage(() => import("./page.tsx"), "HooksPage"),
});
