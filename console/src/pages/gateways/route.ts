/** `/settings/gateways`: the running gateways. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

export const gatewaysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings/gateways",
  component: lazyPage(() => import("./page.tsx"), "GatewaysPage"),
});
