/** `/settings`: opens the members page if the reader may, otherwise the account page. */
import { createRoute, redirect } from "@tanstack/react-router";
import { api, queryClient } from "../../api/client.ts";
import { mayAll } from "../../base/rights.ts";
import { shellRoute } from "../root.ts";

export const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings",
  beforeLoad: async ({ search: { ws } }) => {
    const { rights } = await queryClient.ensureQueryData(api.queryOptions("get", "/admin/v1/me"));
    const search = { ws };
    throw mayAll(rights, "member.create")
      ? redirect({ to: "/settings/members", search })
      : redirect({ to: "/account", search });
  },
});
