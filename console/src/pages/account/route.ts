/** `/account`: the reader's own account. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

export const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/account",
  component: lazyPage(() => import("./page.tsx"), "AccountPage"),
});
