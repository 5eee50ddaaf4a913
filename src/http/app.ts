/**
 * Assembles the HTTP application: every route, and the rules for all of them (authentication, body limits, errors, ids). Requirements:
 * VER-01, AUTH, ERR.
 */
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { GatewayError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { adminRoutes, registerAdmin, registerAuth } from "./admin/index.ts";
import { readBodiesAsBytes } from "./bodies/fastify-body.ts";
import { admitCaller } from "./callers/caller.ts";
import { registerKeyRoute } from "./callers/key-route.ts";
import { answerPage, openBuilds, registerConsole } from "./console/index.ts";
import { notFoundHint, type Methods } from "./not-found-hints.ts";
import { answerFailure } from "./errors/failure.ts";
import { requestIdHeaders } from "./errors/reply-error.ts";
import { headBytesMax } from "./exchange.ts";
import { routeContextOf, attachFrontEnd } from "./front/listener.ts";
import { answerClientError } from "./front/malformed.ts";
import { isMatched } from "./handle.ts";
import {
  registerAliasRoutes,
  registerFiles,
  registerImageRoutes,
  registerTaskRoutes,
  registerVideoRoutes,
} from "./media/index.ts";
import { registerDocs } from "./openapi/index.ts";
import { registerHealth } from "./operation/health.ts";
import { registerMetrics } from "./operation/metrics-routes.ts";
import { parseQuery } from "./path.ts";
import { isServedAt, routes, splitName, styleOf } from "./routes.ts";
import { shuttingDown, type HttpServices } from "./services.ts";
import { registerModels } from "./text/models-routes.ts";
import { answerText } from "./text/text-routes.ts";

const notOurs = (): never => {
  throw new Error("routes have no schemas of fastify's");
};

/** We validate bodies ourselves: so Fastify's own compilers, a hundred modules, are not loaded. */
const noSchemas = { buildValidator: notOurs, buildSerializer: notOurs };

/** Creates the HTTP application, ready to listen. */
export async function createApp(services: HttpServices): Promise<FastifyInstance> {
  const app = createFastify(services);
  const methods = collectMethods(app);
  const builds = openBuilds(services.consoleFolder);
  readBodiesAsBytes(app, services.bodies);
  app.setErrorHandler((error, request, reply) => answerError(services, { error, request, reply }));
  app.decorateRequest("match");
  app.decorateRequest("caller", undefined);
  app.decorateRequest("span", undefined);
  // Runs before the body is read: an unmatched request of a stranger must not make us buffer megabytes.
  app.addHook("onRequest", async (request, reply) => {
    const { match, record } = routeContextOf(request.raw);
    request.match = match;
    request.span = record.span;
    if (!request.is404) record.route = request.routeOptions.url;
    reply.headers(requestIdHeaders(styleOf(match, request.headers), request.id));
    const answered = isMatched(request) ? undefined : answerPage(builds, request, reply);
    if (answered !== undefined) return answered;
    if (!isMatched(request)) throw notFound(methods, { request, reply });
    // A request that arrives long after the listener closed could not finish in time.
    if (services.refusing() && request.match.route.whileStopping !== true) throw shuttingDown();
    await admitCaller(services, request, reply.raw);
    record.keyId = request.caller?.keyId;
    return undefined;
  });
  registerHealth(app, services);
  registerMetrics(app, services);
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
  registerConsole(app, builds);
  await app.ready();
  attachFrontEnd(app.server, services, (request) => void answerText(services, request));
  return app;
}

const createFastify = (services: HttpServices): FastifyInstance =>
  fastify({
    genReqId: () => newId("req", services.clock.now()),
    logger: false,
    requestIdHeader: false,
    forceCloseConnections: "idle",
    // While stopping, we refuse requests ourselves, in the caller's error shape.
    return503OnClosing: false,
    // A slow client may hold a socket only for a limited time.
    requestTimeout: services.receive.requestMs,
    keepAliveTimeout: services.receive.keepAliveMs,
    http: {
      maxHeaderSize: headBytesMax,
      requestTimeout: services.receive.requestMs,
      headersTimeout: services.receive.headersMs,
      connectionsCheckingInterval: services.receive.checkMs,
    },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      answerError(services, { error, request, reply });
    },
    schemaController: { compilersFactory: noSchemas },
    routerOptions: {
      // Accepts ids of any length: an overlong id gets the same 404 as any unknown one.
      maxParamLength: headBytesMax,
      querystringParser: parseQuery,
    },
  });

interface Failed {
  readonly error: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

function answerError(services: HttpServices, { error, request, reply }: Failed): FastifyReply {
  reply.hijack();
  const { raw, id } = request;
  answerFailure(
    services,
    { raw, match: routeContextOf(raw).match, response: reply.raw, id },
    error,
  );
  return reply;
}

/** Collects the methods of the table's routes, and of each route that is registered from now on. */
function collectMethods(app: FastifyInstance): Methods {
  const methods = new Map<string, Set<string>>();
  const note = (url: string, method: string): void => {
    methods.set(url, (methods.get(url) ?? new Set()).add(method));
  };
  for (const { path, method } of Object.keys(routes).map(splitName)) note(path, method);
  app.addHook("onRoute", ({ url, method }) => {
    for (const one of [method].flat()) note(url, one);
  });
  return methods;
}

function allowedMethods(methods: Methods, path: string): string[] {
  const allowed = [...methods].flatMap(([url, known]) =>
    [...known].filter((method) => isServedAt(url, method, path)),
  );
  return [...new Set(allowed)].sort();
}

function notFound(methods: Methods, { request, reply }: Omit<Failed, "error">): GatewayError {
  const { path } = request.match;
  const allowed = allowedMethods(methods, path);
  if (allowed.length > 0 && !allowed.includes(request.method)) {
    reply.raw.setHeader("allow", allowed.join(", "));
    const instead = `use ${allowed.join(" or ")}.`;
    if (/^websocket$/i.test(request.headers.upgrade ?? "")) {
      // Codex CLI falls back to HTTP at once on 426, and otherwise only after several tries (0.171).
      reply.raw.setHeader("upgrade", "HTTP/1.1").appendHeader("connection", "upgrade");
      return new GatewayError("websocket_not_offered", `No WebSocket is offered here; ${instead}`);
    }
    return new GatewayError(
      "method_not_allowed",
      `${request.method} is not allowed here; ${instead}`,
    );
  }
  return new GatewayError(
    "not_found",
    `There is nothing at ${request.method} ${path.slice(0, 200)}. ${notFoundHint({ method: request.method, path }, methods)}`,
  );
}
