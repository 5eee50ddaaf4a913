/** Who calls: the key of a request, checked before its body is read, and the headers that a direct route passes on. */
import type { FastifyRequest } from "fastify";
import type { Note } from "../../base/notes.ts";
import type { TagHeaders, TextCall } from "../../calls/index.ts";
import type { Caller } from "../../tenancy/index.ts";
import type { Routed } from "../exchange.ts";
import type { HttpServices } from "../services.ts";
import { credentialOf, hasCredential } from "./credential.ts";
import { rateOf } from "./rate-headers.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
}

/**
 * The caller of a request: at once where it is known without asking the database, else as a promise.
 * @throws GatewayError, or rejects with one, where the key is none
 */
export function callerOf(
  { authenticator }: Pick<HttpServices, "authenticator">,
  request: Routed,
): Caller | Promise<Caller> {
  const key = credentialOf(request);
  const fresh = request.match.route.fresh === true;
  return (
    (fresh ? undefined : authenticator.known(key)) ?? authenticator.authenticate(key, { fresh })
  );
}

/** Methods whose answers a cache may keep unless it is told. */
const reading: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * The first step of Fastify's routes, as the table says: the key before the body is read, so that a stranger cannot make us
 * buffer megabytes, then its limits of requests and of calls at once. Tokens of what is not a text call are not counted.
 * @throws GatewayError where the key is none, or above its limit
 */
export async function admitCaller(
  services: Pick<HttpServices, "authenticator" | "rates" | "load">,
  request: FastifyRequest,
  response: Parameters<typeof rateOf>[1],
): Promise<void> {
  const { key, limited } = request.match.route;
  // A cache between us tells callers apart by `Authorization` alone (RFC 9111, 3.5), and keys come in other headers too.
  if (key !== undefined && reading.has(request.method))
    response.setHeader("cache-control", "no-store");
  if (key === undefined || (key === "optional" && !hasCredential(request))) return;
  request.caller = await callerOf(services, request);
  if (limited === true) await rateOf(services, response, request.caller);
}

/** The headers that a direct route passes on: they change what the body's fields mean. */
export function callerHeaders({ raw }: Routed): TextCall["callerHeaders"] {
  const version = raw.headers["anthropic-version"];
  const beta = raw.headers["anthropic-beta"];
  return version === undefined && beta === undefined
    ? noHeaders
    : { "anthropic-version": text(version), "anthropic-beta": text(beta) };
}

const ownersHeaders = ["anthropic-user-profile-id", "anthropic-workspace-id"] as const;

/**
 * What a call of messages says in headers that are never forwarded: they name a customer, or a part, of the account at the vendor, which
 * is the operator's own. Anthropic's SDK writes parameters so (`user_profile_id`, `workspace_id`).
 */
export function droppedHeaders({ raw }: Routed): readonly Note[] | undefined {
  const sent = ownersHeaders.filter((name) => raw.headers[name] !== undefined);
  if (sent.length === 0) return undefined;
  const detail = "the account at the vendor is the operator's own, dropped";
  return sent.map((param) => ({ param, kind: "dropped", detail }));
}

/** Other models that may answer: the header of the protocols that have no field for them (docs/routing.md). */
export const fallbackModels = ({ raw }: Routed): string | undefined =>
  text(raw.headers["x-gw-fallback-models"]);

/** Whether an answer of the key's cache will do: `no-cache`, `no-store` (docs/cache.md). */
export const cacheControl = ({ raw }: Routed): string | undefined =>
  text(raw.headers["cache-control"]);

/** What the caller says of a call for their own books (docs/tags.md). */
export function tagHeaders({ raw }: Routed): TagHeaders {
  const metadata = raw.headers["x-gw-metadata"];
  const endUser = raw.headers["x-gw-end-user"];
  return metadata === undefined && endUser === undefined
    ? noHeaders
    : { metadata: text(metadata), endUser: text(endUser) };
}

const noHeaders: TextCall["callerHeaders"] & TagHeaders = {};

const text = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(",") : value;
