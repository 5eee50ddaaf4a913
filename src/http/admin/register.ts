/** Registers the routes of the management API in the application: credential, body, query, handler, answer. */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createEventHub, type EventHub } from "../../admin/index.ts";
import { bytesOf, readBody } from "../bodies/body.ts";
import { subscribeChanges } from "../../tenancy/index.ts";
import type { HttpServices } from "../services.ts";
import { actorOf } from "./actor.ts";
import { checker } from "./check.ts";
import { csvAnswer, csvType, wantsCsv } from "./csv.ts";
import { answerEvents } from "./event-answer.ts";
import { eventSources } from "./event-rows.ts";
import { needsBody, type AdminAnswer, type AdminRequest, type AdminRoute } from "./route.ts";
import { queryReader } from "./query.ts";
import { prepare } from "./session-answer.ts";

export const adminPrefix = "/admin/v1";

/** Adds the routes. */
export function registerAdmin(
  app: FastifyInstance,
  services: HttpServices,
  routes: readonly AdminRoute[],
): void {
  app.decorateRequest("actor", undefined);
  const hub = createEventHub(eventSources(services));
  const { database } = services.admin;
  const recheck = () => hub.recheckRights();
  // A change of a member is announced as one of its workspace.
  const endings = [
    subscribeChanges(database, "workspaces", recheck),
    database.signals.onReconnect(recheck),
  ];
  app.addHook("onClose", () => {
    for (const end of endings) end();
  });
  for (const route of routes) register(app, { services, hub }, route);
}

interface Surroundings {
  readonly services: HttpServices;
  readonly hub: EventHub;
}

function register(app: FastifyInstance, around: Surroundings, route: AdminRoute): void {
  const { services } = around;
  const checkBody = route.body && checker(route.body);
  const readQuery = queryReader(route);
  app.route({
    method: route.method,
    url: adminPrefix + route.path.replaceAll(/\{(\w+)\}/g, ":$1"),
    onRequest: async (request) => {
      request.actor = await actorOf(services.admin, request);
    },
    handler: async (request, reply) => {
      const query = readQuery(request);
      const body = await bodyOf(request, route);
      checkBody?.(body);
      // Authenticate again: a body can take long to arrive, and the actor's rights may have ended meanwhile.
      if (route.method !== "GET") request.actor = await actorOf(services.admin, request);
      const asked = requestOf(around, request, { body, query });
      if (route.csv !== undefined && wantsCsv(request.headers.accept)) {
        const lines = await csvAnswer(route, route.csv, asked);
        // Without this, a HEAD request would read all rows, with no reader to slow it down.
        const sent = request.method === "HEAD" ? Readable.from([]) : lines;
        return prepare(reply).type(`${csvType}; charset=utf-8`).send(sent);
      }
      const answer = await route.handle(asked);
      return answer.begin ? answerEvents(reply, answer.begin) : send(reply, route, answer);
    },
  });
}

/** Returns the body; without one, an empty one if the route needs none. */
async function bodyOf(request: FastifyRequest, route: AdminRoute): Promise<unknown> {
  if (route.body === undefined) return undefined;
  const bytes = bytesOf(request);
  const isEmpty = bytes === undefined || bytes.length === 0;
  return isEmpty && !needsBody(route) ? {} : readBody(request);
}

function requestOf(
  { services, hub }: Surroundings,
  request: FastifyRequest,
  read: { readonly body: unknown; readonly query: unknown },
): AdminRequest<unknown, unknown> {
  const header = (name: string): string | undefined => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(",") : value;
  };
  return {
    ...read,
    services: services.admin,
    log: services.log,
    actor: request.actor!,
    params: request.params as Record<string, string>,
    requestId: request.id,
    ifMatch: header("if-match"),
    idempotencyKey: header("idempotency-key"),
    live: {
      hub,
      lastEventId: header("last-event-id"),
      actorAgain: () => actorOf(services.admin, request),
    },
  };
}

function send(reply: FastifyReply, route: AdminRoute, answer: AdminAnswer): FastifyReply {
  prepare(reply);
  if (answer.etag !== undefined) reply.header("etag", answer.etag);
  if (answer.headers !== undefined) reply.headers(answer.headers);
  return reply.code(answer.status ?? route.status ?? 200).send(answer.body);
}
