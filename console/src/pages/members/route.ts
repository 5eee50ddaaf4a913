/** `/settings/members`. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

export const membersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/members",
  component: lazyPage(() => import("./page.tsx"), "MembersPage"),
});
