/** Authenticates the caller of a request before the body is read, and reads the headers that a direct route passes on. */
import type { FastifyRequest } from "fastify";
import type { Note } from "../../base/notes.ts";
import type { TagHeaders, TextCall } from "../../calls/index.ts";
import type { Caller } from "../../tenancy/index.ts";
import type { Routed } from "../exchange.ts";
import type { HttpServices } from "../services.ts";
import { credentialOf, hasCredential } from "./credential.ts";
import { admitCall } from "./rate-headers.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
}

/**
 * Returns the caller of a request: at once if cached, else as a promise, after a database query.
 * @throws GatewayError, or rejects with one, where the key is not valid
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

/** Methods whose answers an HTTP cache may store by default. */
const reading: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * The first step of Fastify's routes, as the table says. It checks the key before the body is read: a stranger must not make us buffer
 * megabytes. Then it applies the caller's limits of requests and of concurrent calls. Only text calls count tokens.
 * @throws GatewayError where the key is not valid, or above its limit
 */
export async function admitCaller(
  services: Pick<HttpServices, "authenticator" | "rates" | "load">,
  request: FastifyRequest,
  response: Parameters<typeof admitCall>[1],
): Promise<void> {
  const { key, limited } = request.match.route;
  // A shared cache tells callers apart by `Authorization` alone (RFC 9111, 3.5), but keys come in other headers too.
  if (key !== undefined && reading.has(request.method))
    response.setHeader("cache-control", "no-store");
  if (key === undefined || (key === "optional" && !hasCredential(request))) return;
  request.caller = await callerOf(services, request);
  if (limited === true) await admitCall(services, response, request.caller);
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
 * Notes for the headers of a messages call that are never forwarded. They name a customer, or a part, of the account at the vendor,
 * which is the operator's own. Anthropic's SDK sends parameters in them (`user_profile_id`, `workspace_id`).
 */
export function droppedHeaders({ raw }: Routed): readonly Note[] | undefined {
  const sent = ownersHeaders.filter((name) => raw.headers[name] !== undefined);
  if (sent.length === 0) return undefined;
  const detail = "the account at the vendor is the operator's own, dropped";
  return sent.map((param) => ({ param, kind: "dropped", detail }));
}

/** Fallback models, from the header for protocols that have no field for them (docs/routing.md). */
export const fallbackModels = ({ raw }: Routed): string | undefined =>
  text(raw.headers["x-gw-fallback-models"]);

/** Longer names are no session's. */
const sessionMax = 256;

/**
 * The session that a coding agent names in a header, for protocols and clients that name none in the body (docs/routing.md). A header
 * without a name that counts does not hide the other.
 */
export const sessionHeader = ({ raw }: Routed): string | undefined =>
  sessionName(raw.headers["x-session-affinity"]) ?? sessionName(raw.headers["x-session-id"]);

function sessionName(value: string | string[] | undefined): string | undefined {
  const name = text(value);
  return name === undefined || name === "" || name.length > sessionMax ? undefined : name;
}

/** The caller's directives for the response cache: `no-cache`, `no-store` (docs/cache.md). */
export const cacheControl = ({ raw }: Routed): string | undefined =>
  text(raw.headers["cache-control"]);

/** The caller's tags of a call, for its own accounting (docs/tags.md). */
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
