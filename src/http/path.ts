/** Paths and queries of requests. */
import type { RequestHead } from "./exchange.ts";

/** A request as it was received, which Fastify's requests hold too. */
export interface RawRequest {
  readonly raw: RequestHead;
}

/** The request's path without its query, which may hold a key. */
export function pathOf({ raw }: RawRequest): string {
  const url = raw.url ?? "/";
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
}

/** The parameters of a query, without its question mark. Of a name that comes twice, the last counts. */
export function parseQuery(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query));
}

/** The parameters of the request's query. */
export function queryOf({ raw }: RawRequest): Record<string, string> {
  const url = raw.url ?? "/";
  const start = url.indexOf("?");
  return start === -1 ? {} : parseQuery(url.slice(start + 1));
}

/** Whether a path is one of a route's: `:name` stands for one step of it, a `*` at its end for all that begin so. */
export function fitsRoute(route: string, path: string): boolean {
  if (route.endsWith("*"))
    return path.length >= route.length && path.startsWith(route.slice(0, -1));
  const [steps, taken] = [route.split("/"), path.split("/")];
  return (
    steps.length === taken.length &&
    steps.every((step, at) => (step.startsWith(":") ? taken[at] !== "" : step === taken[at]))
  );
}
