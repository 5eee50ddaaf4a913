/** The route tree, in menu order. The server serves the console at these paths' first segments (src/http/console). */
import { createRouter } from "@tanstack/react-router";
import { parseSearch, stringifySearch } from "./base/search.ts";
import { accountRoute } from "./pages/account/route.ts";
import { alertsRoute } from "./pages/alerts/route.ts";
import { auditRoute } from "./pages/audit/route.ts";
import { callbacksRoute } from "./pages/callbacks/route.ts";
import { joinRoute } from "./pages/join/route.ts";
import { keyRoute } from "./pages/key/route.ts";
import { keysRoute } from "./pages/keys/route.ts";
import { membersRoute } from "./pages/members/route.ts";
import { organizationRoute } from "./pages/organization/route.ts";
import { firstRoute } from "./pages/first/route.ts";
import { gatewaysRoute } from "./pages/gateways/route.ts";
import { hooksRoute } from "./pages/hooks/route.ts";
import { ledgerRoute } from "./pages/ledger/route.ts";
import { moneyRoute } from "./pages/money/route.ts";
import { overviewRoute } from "./pages/overview/route.ts";
import { modelRoutes } from "./pages/models/route.ts";
import { passwordRoute } from "./pages/password/route.ts";
import { playgroundRoute } from "./pages/playground/route.ts";
import { providerRoutes } from "./pages/providers/route.ts";
import { requestRoute } from "./pages/requests/one/route.ts";
import { requestsRoute } from "./pages/requests/route.ts";
import { resetRoute } from "./pages/reset/route.ts";
import { rootRoute, shellRoute } from "./pages/root.ts";
import { settingsRoute } from "./pages/settings/route.ts";
import { signInRoute } from "./pages/sign-in/route.ts";
import { startRoute } from "./pages/start/route.ts";
import { taskRoutes } from "./pages/tasks/route.ts";
import { workspaceRoute } from "./pages/workspace/route.ts";
import { workspacesRoute } from "./pages/workspaces/route.ts";
import { Waiting } from "./ui/boundaries.tsx";

const settings = [
  settingsRoute,
  membersRoute,
  workspacesRoute,
  workspaceRoute,
  organizationRoute,
  callbacksRoute,
  alertsRoute,
  auditRoute,
  gatewaysRoute,
  hooksRoute,
  accountRoute,
] as const;

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    firstRoute,
    signInRoute,
    passwordRoute,
    joinRoute,
    resetRoute,
    shellRoute.addChildren([
      startRoute,
      overviewRoute,
      requestsRoute,
      requestRoute,
      playgroundRoute,
      keysRoute,
      keyRoute,
      moneyRoute,
      ledgerRoute,
      ...taskRoutes,
      ...modelRoutes,
      ...providerRoutes,
      ...settings,
    ]),
  ]),
  parseSearch,
  stringifySearch,
  // Removes parameters that no page reads from the URL.
  search: { strict: true },
  // A slow page shows a pending message; until then the previous page stays.
  defaultPendingComponent: Waiting,
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
