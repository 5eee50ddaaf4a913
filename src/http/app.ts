/**
 * What the gateway answers: every route, and what holds for all of them (authentication, body limits, errors, ids).
 * Requirements: VER-01, AUTH, ERR.
 */
import type { RequestListener } from "node:http";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { GatewayError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { adminRoutes, registerAdmin, registerAuth } from "./admin/index.ts";
import { installFastPath } from "./front/fast/index.ts";
import { boundConnections } from "./front/connections.ts";
import { createCors } from "./front/cors.ts";
import { readBodiesAsBytes } from "./bodies/fastify-body.ts";
import { registerCountRoutes } from "./text/count-routes.ts";
import { headersMax } from "./exchange.ts";
import { answerFailure } from "./errors/failure.ts";
import {
  registerAliasRoutes,
  registerFiles,
  registerImageRoutes,
  registerTaskRoutes,
  registerVideoRoutes,
} from "./media/index.ts";
import { registerHealth } from "./operation/health.ts";
import { registerKeyRoute } from "./callers/key-route.ts";
import { answerClientError, tooManyHeaders } from "./front/malformed.ts";
import { registerMetrics } from "./operation/metrics-routes.ts";
import { registerModels } from "./text/models-routes.ts";
import { registerDocs } from "./openapi/index.ts";
import { fitsRoute, parseQuery, pathOf } from "./path.ts";
import { shuttingDown, type HttpServices } from "./services.ts";
import { registerTextRoutes, takeTextRequest } from "./text/text-routes.ts";

/** The HTTP application, ready to listen. */
export async function createApp(services: HttpServices): Promise<FastifyInstance> {
  const app = fastify({
    genReqId: () => newId("req"),
    logger: false,
    requestIdHeader: false,
    forceCloseConnections: "idle",
    // We refuse by ourselves while stopping, in the caller's error shape.
    return503OnClosing: false,
    // A slow client may hold a socket, but not for ever.
    requestTimeout: services.receive.requestMs,
    http: {
      requestTimeout: services.receive.requestMs,
      headersTimeout: services.receive.headersMs,
      connectionsCheckingInterval: services.receive.checkMs,
    },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      answerError(services, { error, request, reply });
    },
    routerOptions: {
      maxParamLength: 1024,
      querystringParser: parseQuery,
    },
  });
  const methods = collectMethods(app);
  readBodiesAsBytes(app, services.bodies);
  app.setErrorHandler((error, request, reply) => answerError(services, { error, request, reply }));
  // Before the body is read: what leads nowhere must not make us buffer megabytes for a stranger.
  app.addHook("onRequest", (request, reply, done) => {
    done(request.is404 ? notFound(methods, { request, reply }) : undefined);
  });
  refuseWhileStopping(app, services);
  registerHealth(app, services);
  registerMetrics(app, services);
  app.decorateRequest("caller", undefined);
  registerTextRoutes(app, services);
  registerCountRoutes(app, services);
  registerModels(app, services);
  registerKeyRoute(app, services);
  registerFiles(app, services);
  registerImageRoutes(app, services);
  registerTaskRoutes(app, services);
  registerVideoRoutes(app, services);
  registerAliasRoutes(app, services);
  registerAdmin(app, services, adminRoutes);
  registerAuth(app, services);
  registerDocs(app);
  await app.ready();
  takeTextRequestsFirst(app, services);
  boundConnections(app.server, services);
  return app;
}

/** Puts the text endpoints in front of Fastify, which gets what they do not take, and in front of Node's HTTP where that can be. */
function takeTextRequestsFirst({ server }: FastifyInstance, services: HttpServices): void {
  const cors = createCors(services.corsOrigins);
  const fallBack = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    if (request.rawHeaders.length > 2 * headersMax)
      return answerFailure(
        services,
        { raw: request, response, id: newId("req") },
        tooManyHeaders(),
      );
    // Served, but the next request of this client goes elsewhere.
    if (services.leaving()) response.setHeader("connection", "close");
    cors?.mark(request, response);
    if (cors?.answerPreflight(request, response) === true) return;
    if (takeTextRequest(services, { raw: request, response, body: request })) return;
    for (const listener of fallBack) listener(request, response);
  });
  if (services.fastPath === false) return;
  installFastPath(server, {
    take: (raw, response, body) => {
      cors?.mark(raw, response);
      return takeTextRequest(services, { raw, response, body });
    },
    leaving: () => services.leaving(),
    checkMs: services.receive.checkMs,
  });
}

const askedWhileStopping = new Set(["/healthz", "/readyz", "/metrics"]);

/** What comes on open connections long after the listener closed could not be ended in time any more. */
function refuseWhileStopping(app: FastifyInstance, services: HttpServices): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const refused = services.refusing() && !askedWhileStopping.has(pathOf(request));
    done(refused ? shuttingDown() : undefined);
  });
}

interface Failed {
  readonly error: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

function answerError(services: HttpServices, { error, request, reply }: Failed): FastifyReply {
  reply.hijack();
  answerFailure(services, { raw: request.raw, response: reply.raw, id: request.id }, error);
  return reply;
}

/** The methods of each route's path. */
type Methods = ReadonlyMap<string, ReadonlySet<string>>;

/** Notes each route that is registered from now on. */
function collectMethods(app: FastifyInstance): Methods {
  const methods = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    for (const one of [method].flat()) known.add(one);
    methods.set(url, known);
  });
  return methods;
}

function allowedMethods(methods: Methods, path: string): string[] {
  const fitting = [...methods].filter(([url]) => fitsRoute(url, path));
  return [...new Set(fitting.flatMap(([, known]) => [...known]))].sort();
}

function notFound(methods: Methods, { request, reply }: Omit<Failed, "error">): GatewayError {
  const path = pathOf(request);
  const allowed = allowedMethods(methods, path);
  if (allowed.length > 0 && !allowed.includes(request.method)) {
    reply.raw.setHeader("allow", allowed.join(", "));
    return new GatewayError(
      "method_not_allowed",
      `${request.method} is not allowed here; use ${allowed.join(" or ")}.`,
    );
  }
  return new GatewayError(
    "not_found",
    `There is nothing at ${request.method} ${path.slice(0, 200)}. See /docs.`,
  );
}
