/** `/keys/{id}`: one key. The tab and the period are in the URL. */
import { createRoute } from "@tanstack/react-router";
import { isTime, periodWords } from "../../base/period.ts";
import { fit, pick } from "../../base/search.ts";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

export const keyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/keys/$id",
  validateSearch: (search: Record<string, unknown>) =>
    fit(pick(search, ["tab", "period", "from", "to"]), {
      tab: ["use", "caps", "models", "routing", "history"],
      period: periodWords,
      from: isTime,
      to: isTime,
    }),
  component: lazyPage(() => import("./page.tsx"), "KeyPage"),
  // A revealed value, an open dialog and a form belong to one key.
  remountDeps: ({ params }) => params,
});
