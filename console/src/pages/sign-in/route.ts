/** `/sign-in`: the sign-in page; `to` is the path to open afterwards. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { rootRoute } from "../root.ts";

/** The sign-in page itself: the router ignores case and slashes at the end. */
const signInPath = /^\/sign-in\/*$/i;

/**
 * Returns a path on this origin, as the browser would resolve it. Browsers drop tabs, turn backslashes into slashes and resolve dots,
 * so a text that looks like a path may lead elsewhere. The sign-in page is left out: a signed-in reader would see its form again.
 */
function ownPath(text: string | undefined): string | undefined {
  if (text?.startsWith("/") !== true || !URL.canParse(text, location.origin)) return undefined;
  const { origin, pathname, search, hash } = new URL(text, location.origin);
  const isOurs = origin === location.origin && !pathname.startsWith("//");
  return isOurs && !signInPath.test(pathname) ? pathname + search + hash : undefined;
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
