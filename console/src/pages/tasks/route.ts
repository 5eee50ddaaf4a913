/** `/tasks` and `/tasks/:id`: image and video tasks, finished or running. */
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../ui/lazy-page.ts";
import { shellRoute } from "../root.ts";
import { filtersOf } from "./filters.ts";

const tasksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/tasks",
  validateSearch: filtersOf,
  component: lazyPage(() => import("./page.tsx"), "TasksPage"),
});

const taskRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/tasks/$id",
  component: lazyPage(() => import("./one.tsx"), "TaskPage"),
});

export const taskRoutes = [tasksRoute, taskRoute] as const;
