/** `/sign-in`: where everybody begins; `to` is where they wanted to go. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { rootRoute } from "../root.ts";

/**
 * A path of ours, as the browser reads it: it takes tabs out, turns backslashes round and resolves dots, so that a text may begin
 * like a path and lead elsewhere.
 */
function ownPath(text: string | undefined): string | undefined {
  if (text?.startsWith("/") !== true || !URL.canParse(text, location.origin)) return undefined;
  const { origin, pathname, search, hash } = new URL(text, location.origin);
  const isOurs = origin === location.origin && !pathname.startsWith("//");
  return isOurs ? pathname + search + hash : undefined;
}

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
