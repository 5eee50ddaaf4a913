/** Ties Fastify's routes to the table of routes. Every handler has a row, and runs only if the front end chose that row too. */
import type { FastifyInstance, FastifyRequest, HTTPMethods, RouteHandlerMethod } from "fastify";
import type { Span } from "../base/tracing.ts";
import { routes, splitName, type Route, type RouteMatch, type RouteName } from "./routes.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The route that the front end matched. */
    match: RouteMatch;
    /** Undefined if the request is not traced. */
    span: Span | undefined;
  }
  interface FastifyContextConfig {
    /** Its row; absent if the rules of its area are enough. */
    row?: Route;
  }
}

/** Adds the handler of a row. `also` lists further methods that it answers. */
export function handle(
  app: FastifyInstance,
  name: RouteName,
  handler: RouteHandlerMethod,
  also: readonly HTTPMethods[] = [],
): void {
  const { method, path } = splitName(name);
  app.route({ method: [method, ...also], url: path, config: { row: routes[name] }, handler });
}

/** True if Fastify matched the same route as the front end, and each named segment of its path has a text: `/keys/` is no key. */
export const isMatched = ({ is404, routeOptions, match, params }: FastifyRequest): boolean =>
  !is404 &&
  (routeOptions.config.row?.path ?? match.route.path) === match.route.path &&
  Object.entries(params ?? {}).every(([name, value]) => name === "*" || value !== "");
