/** Paths of requests. */
import type { FastifyRequest } from "fastify";

/** The request's path without its query, which may hold a key. */
export function pathOf(request: FastifyRequest): string {
  const url = request.raw.url ?? "/";
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
}
