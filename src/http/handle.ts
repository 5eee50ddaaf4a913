/** How Fastify's routes are tied to the table of routes: none is added without its row, and none runs that the door has not chosen. */
import type { FastifyInstance, FastifyRequest, HTTPMethods, RouteHandlerMethod } from "fastify";
import type { Span } from "../base/tracing.ts";
import { routes, splitName, type Route, type RouteMatch, type RouteName } from "./routes.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What the door found for it. */
    match: RouteMatch;
    /** Its span, where it is traced. */
    span: Span | undefined;
  }
  interface FastifyContextConfig {
    /** Its row; absent where the area says all. */
    row?: Route;
  }
}

/** Adds the handler of a row; `also` is a further method that it answers. */
export function handle(
  app: FastifyInstance,
  name: RouteName,
  handler: RouteHandlerMethod,
  also: readonly HTTPMethods[] = [],
): void {
  const { method, path } = splitName(name);
  app.route({ method: [method, ...also], url: path, config: { row: routes[name] }, handler });
}

/** Whether Fastify found what the door has found. */
export const isMatched = ({ is404, routeOptions, match }: FastifyRequest): boolean =>
  !is404 && (routeOptions.config.row?.path ?? match.route.path) === match.route.path;
