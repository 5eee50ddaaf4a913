/** The root of all routes, and the one of all pages inside: those wait until it is known who reads. */
import { createRootRoute, createRoute, redirect } from "@tanstack/react-router";
import { api, queryClient } from "../api/client.ts";
import { asApiError } from "../api/errors.ts";
import { pick } from "../base/search.ts";
import { NotFound, RouteError } from "../ui/boundaries.tsx";
import { Shell } from "../ui/shell.tsx";

export const rootRoute = createRootRoute({
  errorComponent: RouteError,
  notFoundComponent: NotFound,
});

/** Who reads, or where to go first. */
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

export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  validateSearch: (search: Record<string, unknown>) => pick(search, ["ws"]),
  beforeLoad: ({ location }) => admit(location.href),
  component: Shell,
});
