/**
 * What the gateway answers: every route, and what holds for all of them (authentication, body limits, errors, ids).
 * Spec: "Endpoints", "Authentication", "Errors".
 */
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { GatewayError, toGatewayError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { registerCountRoutes } from "./count-routes.ts";
import { registerFiles } from "./file-routes.ts";
import { registerHealth } from "./health.ts";
import { registerKeyRoute } from "./key-route.ts";
import { answerClientError } from "./malformed.ts";
import { registerModels } from "./models-routes.ts";
import { registerDocs } from "./openapi.ts";
import { pathOf } from "./path.ts";
import { protocolOfPath, writeError } from "./reply-error.ts";
import type { HttpServices } from "./services.ts";
import { registerTextRoutes } from "./text-routes.ts";

/** The HTTP application, ready to listen. */
export async function createApp(services: HttpServices): Promise<FastifyInstance> {
  const app = fastify({
    bodyLimit: services.bodyBytesMax,
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
      querystringParser: (query) => Object.fromEntries(new URLSearchParams(query)),
    },
  });
  const methods = collectMethods(app);
  readBodiesAsBytes(app);
  app.setErrorHandler((error, request, reply) => answerError(services, { error, request, reply }));
  // Before the body is read: what leads nowhere must not make us buffer megabytes for a stranger.
  app.addHook("onRequest", (request, reply, done) => {
    done(request.is404 ? notFound(methods, { request, reply }) : undefined);
  });
  refuseWhileStopping(app, services);
  registerHealth(app, services);
  app.decorateRequest("caller", undefined);
  registerTextRoutes(app, services);
  registerCountRoutes(app, services);
  registerModels(app, services);
  registerKeyRoute(app, services);
  registerFiles(app, services);
  registerDocs(app);
  await app.ready();
  return app;
}

const askedWhileStopping = new Set(["/healthz", "/readyz", "/metrics"]);

/** Once told to stop, the gateway finishes what it has and takes nothing new, on open connections either. */
function refuseWhileStopping(app: FastifyInstance, services: HttpServices): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const refused = !services.ready() && !askedWhileStopping.has(pathOf(request));
    done(
      refused ? new GatewayError("shutting_down", stopping, { retryAfterSeconds: 1 }) : undefined,
    );
  });
}

const stopping = "The gateway is stopping; another one, or this one in a moment, will answer.";

/** Bodies reach the routes as bytes: they are parsed once, with our own bounds (base/json.ts). */
function readBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (request, body, done) => {
    const type = request.headers["content-type"] ?? "application/json";
    if (/^application\/([\w.+-]+\+)?json\b/i.test(type)) return done(null, body);
    const message = `The Content-Type is ${type.slice(0, 80)}; send application/json.`;
    return done(new GatewayError("unsupported_media_type", message), undefined);
  });
}

interface Failed {
  readonly error: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

function answerError(services: HttpServices, { error, request, reply }: Failed): FastifyReply {
  const known = fromFastify(error, services.bodyBytesMax);
  if (known.code === "internal_error")
    services.log.error({ err: error, request: request.id }, "a request failed");
  reply.hijack();
  writeError(reply.raw, {
    protocol: protocolOfPath(request.method, pathOf(request)),
    error: known,
    requestId: request.id,
  });
  return reply;
}

/** Fastify's own errors in our catalogue. */
function fromFastify(error: unknown, bodyBytesMax: number): GatewayError {
  if (error instanceof GatewayError) return error;
  const code =
    typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    const megabytes = Math.floor(bodyBytesMax / 1_048_576);
    return new GatewayError(
      "request_too_large",
      `The body is larger than ${megabytes} MB (limits.body_mb).`,
    );
  }
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return new GatewayError(
      "unsupported_media_type",
      "The Content-Type is malformed; send application/json.",
    );
  if (code === "FST_ERR_BAD_URL")
    return new GatewayError("malformed_request", "The path has a malformed percent-escape.");
  // What is left of the 400s: a body that does not have the length it was announced with, or that broke off.
  if (isClientFault(error))
    return new GatewayError("malformed_request", "The request could not be read to its end.");
  return toGatewayError(error);
}

const isClientFault = (error: unknown): boolean =>
  error instanceof Error &&
  "statusCode" in error &&
  typeof error.statusCode === "number" &&
  error.statusCode >= 400 &&
  error.statusCode < 500;

/** The methods of each route's path; a path that ends in `*` stands for all that begin so. */
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
  const fitting = [...methods].filter(([url]) =>
    url.endsWith("*")
      ? path.length >= url.length && path.startsWith(url.slice(0, -1))
      : url === path,
  );
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
