/** `/tasks` and `/tasks/:id`: image and video tasks, finished or running. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../root.ts";
import { filtersOf } from "./filters.ts";

const tasksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/tasks",
  validateSearch: filtersOf,
  component: lazyRouteComponent(() => import("./page.tsx"), "TasksPage"),
});

const taskRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/tasks/$id",
  component: lazyRouteComponent(() => import("./one.tsx"), "TaskPage"),
});

export const taskRoutes = [tasksRoute, taskRoute] as const;
