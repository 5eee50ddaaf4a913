/** `/playground`: tries models with one of the reader's keys. Prompts are never in the URL. */
import { createRoute } from "@tanstack/react-router";
import { pick } from "../../base/search.ts";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";

export const playgroundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/playground",
  validateSearch: (search: Record<string, unknown>) =>
    pick(search, ["mode", "protocol", "models", "from"]),
  component: lazyPage(() => import("./page.tsx"), "PlaygroundPage"),
});
