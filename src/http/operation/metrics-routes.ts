/**
 * Serves `/metrics`. It shows models, traffic and spend, so access is limited: by a port of its own, by a token, or else to programs on
 * this machine. docs/operate.md "Metrics".
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { isLoopback } from "../../base/client-address.ts";
import { GatewayError, toGatewayError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { hostInUrl } from "../../base/listening-host.ts";
import { isLocalHost } from "../../base/local-host.ts";
import { isSameSecret } from "../../base/same-secret.ts";
import type { Metrics } from "./metrics.ts";
import { handle } from "../handle.ts";
import { pathIn } from "../path.ts";
import { writeError } from "../errors/reply-error.ts";

/** Who may read the metrics. */
export interface MetricsAccess {
  /** The bearer token. Without one, only programs on this machine may read the metrics, or any client that reaches their own port. */
  readonly token: string | undefined;
  /** The metrics' own port, if there is one. */
  readonly own: { readonly host: string; readonly port: number } | undefined;
  /** True if a proxy is known to be in front: then requests from loopback may come from any client. */
  readonly behindProxy: boolean;
}

interface MetricsServices {
  readonly metrics: Metrics;
  readonly metricsAccess: MetricsAccess;
}

/** Adds `/metrics`, unless it has a port of its own. */
export function registerMetrics(app: FastifyInstance, services: MetricsServices): void {
  const { metrics, metricsAccess } = services;
  if (metricsAccess.own !== undefined) return;
  handle(app, "GET /metrics", async (request, reply) => {
    if (metricsAccess.token === undefined) checkOwnMachine(request.raw, metricsAccess);
    else checkToken(request.raw, metricsAccess.token);
    const { type, text } = await metrics.answer(request.headers.accept);
    return reply.header("cache-control", "no-store").type(type).send(text);
  });
}

/** @throws GatewayError 401 `missing_credential`, `invalid_credential` */
function checkToken({ headers }: IncomingMessage, token: string): void {
  const { authorization = "" } = headers;
  if (authorization === "")
    throw new GatewayError(
      "missing_credential",
      "Send TOLLGATE_METRICS_TOKEN as `Authorization: Bearer <token>`.",
    );
  const [, bearer] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
  if (bearer === undefined || !isSameSecret(bearer, token))
    throw new GatewayError("invalid_credential", "The token is not TOLLGATE_METRICS_TOKEN.");
}

/** Headers that proxies add to the requests that they pass on. */
const proxyHeaders = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
];

/**
 * Requires a direct request of a program on this machine. A proxy on this machine passes on strangers' requests. It is recognised by
 * the headers that proxies add, by HTTP/1.0 (nginx with its defaults adds none), or by the operator's settings.
 * @throws GatewayError 403 `insufficient_permissions`
 */
function checkOwnMachine(request: IncomingMessage, { behindProxy }: MetricsAccess): void {
  const { headers, httpVersion, socket } = request;
  const passedOn =
    behindProxy ||
    httpVersion !== "1.1" ||
    proxyHeaders.some((name) => headers[name] !== undefined);
  if (!passedOn && isLoopback(socket.remoteAddress ?? "") && isLocalHost(headers.host)) return;
  throw new GatewayError(
    "insufficient_permissions",
    behindProxy
      ? "TOLLGATE_PUBLIC_URL or TOLLGATE_TRUSTED_PROXIES says that a proxy is in front, so /metrics trusts no address. Set TOLLGATE_METRICS_TOKEN or TOLLGATE_METRICS_PORT."
      : "Without a token /metrics answers programs on the gateway's machine only, and not through a proxy. Set TOLLGATE_METRICS_TOKEN or TOLLGATE_METRICS_PORT.",
  );
}

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `/metrics` on its own port; undefined if none is configured. Rejects if the port is taken. @param bound the descriptor of a
 * socket that has that port already
 */
export async function startMetricsServer(
  services: MetricsServices,
  bound?: number,
): Promise<MetricsServer | undefined> {
  const { metrics, metricsAccess } = services;
  const { own, token } = metricsAccess;
  if (own === undefined) return undefined;
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 });
  server.on("request", (request, response) => {
    request.resume();
    answer(request, response, { metrics, token }).catch((error: unknown) => {
      const style = "chat";
      writeError(response, { style, error: toGatewayError(error), requestId: newId("req") });
    });
  });
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(
      bound !== undefined ? { fd: bound } : { port: own.port, host: own.host },
      resolve,
    );
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${hostInUrl(own.host)}:${port}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Answered {
  readonly metrics: Metrics;
  readonly token: string | undefined;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { metrics, token }: Answered,
): Promise<void> {
  if (request.method !== "GET" || pathIn(request.url ?? "/") !== "/metrics")
    throw new GatewayError("not_found", "Only GET /metrics is here.");
  if (token !== undefined) checkToken(request, token);
  // Any client that reaches the port may read. Only a web page that points its own host name at this machine (DNS rebinding) is
  // refused.
  else if (isLoopback(request.socket.remoteAddress ?? "") && !isLocalHost(request.headers.host))
    throw new GatewayError("insufficient_permissions", "The Host header names no local machine.");
  const { type, text } = await metrics.answer(request.headers.accept);
  response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
  response.end(text);
}
