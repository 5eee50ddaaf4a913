/** Who calls: the key of a request, checked before its body is read, and the headers that a direct route passes on. */
import type { FastifyRequest } from "fastify";
import type { Caller } from "../tenancy/index.ts";
import { credentialOf } from "./credential.ts";
import { pathOf } from "./path.ts";
import type { HttpServices } from "./services.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
}

/**
 * A route's first step: the key is checked before the body is read, so that a stranger cannot make us buffer megabytes.
 * What a cache knows of the key is enough for a call, whose reservation asks the database again; a count has none.
 */
export const authenticating =
  ({ authenticator }: HttpServices) =>
  async (request: FastifyRequest): Promise<void> => {
    const fresh = /count_?tokens$/i.test(pathOf(request));
    request.caller = await authenticator.authenticate(credentialOf(request), { fresh });
  };

/** The headers that a direct route passes on: they change what the body's fields mean. */
export function callerHeaders(request: FastifyRequest): Record<string, string | undefined> {
  const { headers } = request.raw;
  const text = (value: string | string[] | undefined) =>
    Array.isArray(value) ? value.join(",") : value;
  return {
    "anthropic-version": text(headers["anthropic-version"]),
    "anthropic-beta": text(headers["anthropic-beta"]),
  };
}
