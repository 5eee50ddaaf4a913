/** The tree of routes, each page's in menu order. The server answers with the console at their first steps (src/http/console). */
import { createRoute, createRouter, redirect } from "@tanstack/react-router";
import { parseSearch, stringifySearch } from "./base/search.ts";
import { keyRoute } from "./pages/key/route.ts";
import { keysRoute } from "./pages/keys/route.ts";
import { passwordRoute } from "./pages/password/route.ts";
import { requestRoute } from "./pages/request/route.ts";
import { requestsRoute } from "./pages/requests/route.ts";
import { rootRoute, shellRoute } from "./pages/root.ts";
import { signInRoute } from "./pages/sign-in/route.ts";
import { startRoute } from "./pages/start/route.ts";

const firstRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  validateSearch: ({ error }: Record<string, unknown>) => ({
    error: typeof error === "string" ? error : undefined,
  }),
  // The identity provider comes back to `/`, with what went wrong.
  beforeLoad: ({ search: { error } }) => {
    throw error === undefined
      ? redirect({ to: "/start" })
      : redirect({ to: "/sign-in", search: { error } });
  },
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    firstRoute,
    signInRoute,
    passwordRoute,
    shellRoute.addChildren([startRoute, requestsRoute, requestRoute, keysRoute, keyRoute]),
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
