/** `/settings/organization`. The chosen organization is in the URL. */
import { createRoute } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

export const organizationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/organization",
  validateSearch: (search: Record<string, unknown>) => pick(search, ["id"]),
  component: lazyPage(() => import("./page.tsx"), "OrganizationPage"),
});
