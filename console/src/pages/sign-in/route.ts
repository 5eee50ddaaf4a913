/** `/sign-in`: where everybody begins; `to` is where they wanted to go. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { rootRoute } from "../root.ts";

/** A path of ours: anything else in an address could lead elsewhere. */
const ownPath = (text: string | undefined): string | undefined =>
  text !== undefined && /^\/(?![/\\])/.test(text) ? text : undefined;

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  validateSearch: (search: Record<string, unknown>): { to?: string; error?: string } => {
    const { to, error } = pick(search, ["to", "error"]);
    const own = ownPath(to);
    return { ...(own !== undefined && { to: own }), ...(error !== undefined && { error }) };
  },
  component: lazyRouteComponent(() => import("./page.tsx"), "SignInPage"),
});
