/** `/settings/organization`. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";

export const organizationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/organization",
  component: lazyRouteComponent(() => import("./page.tsx"), "OrganizationPage"),
});
