/** `/settings/audit`. Its filters are in the URL. */
import { createRoute } from "@tanstack/react-router";
import { inOrder, isTime, periodWords } from "../../base/period.ts";
import { fit, pick } from "../../base/search.ts";
import { lazyPage } from "../../ui/lazy-page.ts";
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
  component: lazyPage(() => import("./page.tsx"), "AuditPage"),
});
