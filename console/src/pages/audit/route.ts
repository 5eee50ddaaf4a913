/** `/settings/audit`. Its filters are in the address. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { shellRoute } from "../root.ts";

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/audit",
  validateSearch: (search: Record<string, unknown>) => pick(search, ["actor", "action", "subject"]),
  component: lazyRouteComponent(() => import("./page.tsx"), "AuditPage"),
});
