/** `/`: Start until there was a call, else what comes behind it in the menu. The identity provider comes back here too. */
import { createRoute, redirect } from "@tanstack/react-router";
import { client } from "../../api/client.ts";
import { pick } from "../../base/search.ts";
import { landing } from "../../ui/menu.ts";
import { admit, rootRoute } from "../root.ts";

/** Whether the reader sees any call; where that cannot be read now, Start says more. */
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
    // The identity provider says what went wrong.
    if (error !== undefined) throw redirect({ to: "/sign-in", search: { error } });
    await admit("/");
    throw redirect({ to: (await hasCalls()) ? landing : "/start" });
  },
});
