/** `/settings/callbacks`. The status filter is in the URL. */
import { createRoute } from "@tanstack/react-router";
import { fit, pick } from "../../base/search.ts";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";
import { statuses } from "./answers.ts";

export const callbacksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/callbacks",
  validateSearch: (search: Record<string, unknown>) =>
    fit(pick(search, ["status"]), { status: statuses }),
  component: lazyPage(() => import("./page.tsx"), "CallbacksPage"),
});
