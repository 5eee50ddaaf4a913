/** Who calls: the key of a request, checked before its body is read, and the headers that a direct route passes on. */
import type { FastifyRequest } from "fastify";
import type { TextCall } from "../../calls/index.ts";
import type { Caller } from "../../tenancy/index.ts";
import { credentialOf } from "./credential.ts";
import { pathOf, type RawRequest } from "../path.ts";
import type { HttpServices } from "../services.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
}

/**
 * The caller of a request: at once where it is known without asking the database, else as a promise.
 * What a cache knows of the key is enough for a call, whose reservation asks the database again; a count has none.
 * @throws GatewayError, or rejects with one, where the key is none
 */
export function callerOf(
  { authenticator }: Pick<HttpServices, "authenticator">,
  request: RawRequest,
): Caller | Promise<Caller> {
  const key = credentialOf(request);
  const fresh = /count_?tokens$/i.test(pathOf(request));
  return (
    (fresh ? undefined : authenticator.known(key)) ?? authenticator.authenticate(key, { fresh })
  );
}

/** A route's first step: the key is checked before the body is read, so that a stranger cannot make us buffer megabytes. */
export const authenticating =
  (services: HttpServices) =>
  async (request: FastifyRequest): Promise<void> => {
    request.caller = await callerOf(services, request);
  };

/** The headers that a direct route passes on: they change what the body's fields mean. */
export function callerHeaders({ raw }: RawRequest): TextCall["callerHeaders"] {
  const version = raw.headers["anthropic-version"];
  const beta = raw.headers["anthropic-beta"];
  return version === undefined && beta === undefined
    ? noHeaders
    : { "anthropic-version": text(version), "anthropic-beta": text(beta) };
}

const noHeaders: TextCall["callerHeaders"] = {};

const text = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(",") : value;
