/** The root route, and the parent of all signed-in pages, which wait until the reader is known. */
import { createRootRoute, createRoute, redirect, retainSearchParams } from "@tanstack/react-router";
import { api, queryClient } from "../api/client.ts";
import { asApiError } from "../api/errors.ts";
import { fit, pick } from "../base/search.ts";
import { NotFound, RouteError } from "../ui/boundaries.tsx";
import { Shell } from "../ui/shell.tsx";
import { settleZone, zones } from "../ui/zone.ts";

export const rootRoute = createRootRoute({
  errorComponent: RouteError,
  notFoundComponent: NotFound,
});

/** Ensures that the reader is signed in; otherwise redirects. */
export async function admit(href: string): Promise<void> {
  try {
    await queryClient.ensureQueryData(api.queryOptions("get", "/admin/v1/me"));
  } catch (error) {
    const { status, code } = asApiError(error);
    if (code === "password_change_required") throw redirect({ to: "/password" });
    if (status === 401) throw redirect({ to: "/sign-in", search: { to: href } });
    throw error;
  }
}

/** If it were absent, the router would restore an empty one of the URL. */
const noWorkspace: { readonly ws?: string | undefined; readonly tz?: string | undefined } = {
  ws: undefined,
};

export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  validateSearch: (search: Record<string, unknown>) =>
    fit({ ...noWorkspace, ...pick(search, ["ws", "tz"]) }, { tz: zones }),
  // A time zone in the URL is kept during navigation.
  search: { middlewares: [retainSearchParams(["tz"])] },
  beforeLoad: ({ location, search, preload }) => {
    if (!preload) settleZone(search.tz);
    return admit(location.href);
  },
  component: Shell,
});
