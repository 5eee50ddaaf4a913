/** `/password`: changes the password. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root.ts";

export const passwordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/password",
  component: lazyRouteComponent(() => import("./page.tsx"), "PasswordPage"),
});
