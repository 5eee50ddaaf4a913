/**
 * The entry of every request of both front ends. It matches the route once. The gateway answers text endpoints itself, plain ones on
 * the fast path without Node's HTTP. All other requests go to the previous listeners.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { answerFailure } from "../errors/failure.ts";
import { headersMax, type IncomingRequest, type RequestRecord } from "../exchange.ts";
import { matchRoute, type RouteMatch } from "../routes.ts";
import { limitConnections, type ConnectionServices } from "./connections.ts";
import { onCheckContinue } from "./expect-continue.ts";
import { createCors, type Cors } from "./cors.ts";
import { installFastPath } from "./fast/index.ts";
import { isLingering, lingerAfter } from "./lingering.ts";
import { isAmbiguous, refuseAmbiguous, tooManyHeaders } from "./malformed.ts";
import { answerInOrder } from "./pipelined.ts";
import { watchFast, watchNode, type WatchServices } from "./watch.ts";

interface FrontServices extends ConnectionServices, WatchServices {
  readonly log: Log;
  /** The database's: the request log is sorted by ids, and retention and exports go by them. */
  readonly clock: Clock;
  readonly corsOrigins: readonly string[];
  readonly receive: { readonly checkMs: number };
  readonly fastPath?: boolean | undefined;
  /** True once this process was asked to stop. */
  leaving(): boolean;
}

/** Answers a request for a text endpoint. Must not throw. */
type AnswerText = (request: IncomingRequest) => void;

interface RouteContext {
  readonly match: RouteMatch;
  readonly record: RequestRecord;
}

const routeContexts = new WeakMap<IncomingMessage, RouteContext>();

/** The route of a request that passed `attachFrontEnd`, and the record for its access log line. */
export const routeContextOf = (request: IncomingMessage): RouteContext =>
  routeContexts.get(request)!;

/** Puts this entry in front of a server. Call it once, after all other listeners are added and before the server listens. */
export function attachFrontEnd(
  server: Server,
  services: FrontServices,
  answerText: AnswerText,
): void {
  const cors = createCors(services.corsOrigins);
  const onNode = nodeListener(server, { services, cors, answerText });
  server.removeAllListeners("request");
  server.on("request", onNode);
  server.on("checkContinue", onCheckContinue(onNode));
  if (services.fastPath !== false)
    installFastPath(server, {
      handle(raw, response, body, socket) {
        const { match } = raw;
        if (match.route.protocol === undefined) return false;
        const id = newId("req", services.clock.now());
        const record = watchFast(services, { raw, match, id, socket }, response);
        const request = { raw, match, response, body, id, record };
        cors?.mark(request, response);
        answerText(request);
        return true;
      },
      leaving: () => services.leaving(),
      checkMs: services.receive.checkMs,
    });
  limitConnections(server, services);
}

interface FrontEnd {
  readonly services: FrontServices;
  readonly cors: Cors | undefined;
  readonly answerText: AnswerText;
}

function nodeListener(server: Server, { services, cors, answerText }: FrontEnd): RequestListener {
  const others = server.listeners("request") as RequestListener[];
  const answer = (raw: IncomingMessage, response: ServerResponse): void => {
    // It came after the last request of its connection.
    if (isLingering(raw.socket)) return;
    if (isAmbiguous(raw)) return refuseAmbiguous(raw);
    const match = matchRoute(raw.method ?? "", raw.url ?? "/");
    const id = newId("req", services.clock.now());
    const record = watchNode(services, { raw, match, id, socket: raw.socket }, response);
    const request = { raw, match, response, body: raw, id, record };
    lingerAfter(raw);
    if (raw.rawHeaders.length > 2 * headersMax)
      return answerFailure(services, request, tooManyHeaders());
    // Serve it, but make the client send its next request to another gateway.
    if (services.leaving()) response.setHeader("connection", "close");
    cors?.mark(request, response);
    if (cors?.answerPreflight(request, response) === true) return;
    if (match.route.protocol !== undefined) return answerText(request);
    routeContexts.set(raw, { match, record });
    for (const listener of others) listener(raw, response);
  };
  return (raw, response) => answerInOrder(raw.socket, response, () => answer(raw, response));
}
