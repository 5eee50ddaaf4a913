/** `/`: opens Start until there was a call, then the landing page. The identity provider also returns here. */
import { createRoute, redirect } from "@tanstack/react-router";
import { client } from "../../api/client.ts";
import { pick } from "../../base/search.ts";
import { landing } from "../../ui/menu.ts";
import { admit, rootRoute } from "../root.ts";

/** True if the reader sees any call. False if that cannot be read now: Start then says more. */
async function hasCalls(): Promise<boolean> {
  const params = { query: { view: "list" as const, limit: "1" } };
  const { data } = await client.GET("/admin/v1/requests", { params }).catch(() => ({ data: null }));
  return (data?.data.length ?? 0) > 0;
}

export const firstRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  validateSearch: (search: Record<string, unknown>) => pick(search, ["error"]),
  beforeLoad: async ({ search: { error } }) => {
    // The identity provider returned an error.
    if (error !== undefined) throw redirect({ to: "/sign-in", search: { error } });
    await admit("/");
    throw redirect({ to: (await hasCalls()) ? landing : "/start" });
  },
});
