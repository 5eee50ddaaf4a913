/** `/settings/audit`. Its filters are in the URL. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { inOrder, isTime, periodWords } from "../../base/period.ts";
import { fit, pick } from "../../base/search.ts";
import { shellRoute } from "../root.ts";

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/audit",
  validateSearch: (search: Record<string, unknown>) =>
    inOrder(
      fit(pick(search, ["actor", "action", "subject", "period", "from", "to"]), {
        period: periodWords,
        from: isTime,
        to: isTime,
      }),
    ),
  component: lazyRouteComponent(() => import("./page.tsx"), "AuditPage"),
});
