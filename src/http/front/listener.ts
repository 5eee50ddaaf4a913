/**
 * The entry of every request of both front ends. It matches the route once. The gateway answers text endpoints itself, plain ones on
 * the fast path without Node's HTTP. All other requests go to the previous listeners.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { answerFailure } from "../errors/failure.ts";
import { headersMax, type Received, type Seen } from "../exchange.ts";
import { matchRoute, type RouteMatch } from "../routes.ts";
import { boundConnections, type ConnectionServices } from "./connections.ts";
import { expecting } from "./expected.ts";
import { createCors, type Cors } from "./cors.ts";
import { installFastPath } from "./fast/index.ts";
import { isLingering, lingerBehind } from "./lingering.ts";
import { isAmbiguous, refuseAmbiguous, tooManyHeaders } from "./malformed.ts";
import { inOrder } from "./pipelined.ts";
import { watchFast, watchNode, type WatchServices } from "./watch.ts";

interface FrontServices extends ConnectionServices, WatchServices {
  readonly log: Log;
  readonly corsOrigins: readonly string[];
  readonly receive: { readonly checkMs: number };
  readonly fastPath?: boolean | undefined;
  /** True once this process was asked to stop. */
  leaving(): boolean;
}

/** Answers a request for a text endpoint. Must not throw. */
type AnswerText = (request: Received) => void;

interface Entered {
  readonly match: RouteMatch;
  readonly seen: Seen;
}

const entered = new WeakMap<IncomingMessage, Entered>();

/** The route of a request that passed `openDoor`, and the record for its access log line. */
export const enteredBy = (request: IncomingMessage): Entered => entered.get(request)!;

/** Puts this entry in front of a server. Call it once, after all other listeners are added and before the server listens. */
export function openDoor(server: Server, services: FrontServices, answerText: AnswerText): void {
  const cors = createCors(services.corsOrigins);
  const onNode = nodeListener(server, { services, cors, answerText });
  server.removeAllListeners("request");
  server.on("request", onNode);
  server.on("checkContinue", expecting(onNode));
  if (services.fastPath !== false)
    installFastPath(server, {
      take(raw, response, body, socket) {
        const { match } = raw;
        if (match.route.protocol === undefined) return false;
        const id = newId("req");
        const seen = watchFast(services, { raw, match, id, socket }, response);
        const asked = { raw, match, response, body, id, seen };
        cors?.mark(asked, response);
        answerText(asked);
        return true;
      },
      leaving: () => services.leaving(),
      checkMs: services.receive.checkMs,
    });
  boundConnections(server, services);
}

interface Door {
  readonly services: FrontServices;
  readonly cors: Cors | undefined;
  readonly answerText: AnswerText;
}

function nodeListener(server: Server, { services, cors, answerText }: Door): RequestListener {
  const others = server.listeners("request") as RequestListener[];
  const answer = (raw: IncomingMessage, response: ServerResponse): void => {
    // It came after the last request of its connection.
    if (isLingering(raw.socket)) return;
    if (isAmbiguous(raw)) return refuseAmbiguous(raw);
    const match = matchRoute(raw.method ?? "", raw.url ?? "/");
    const id = newId("req");
    const seen = watchNode(services, { raw, match, id, socket: raw.socket }, response);
    const asked = { raw, match, response, body: raw, id, seen };
    lingerBehind(raw);
    if (raw.rawHeaders.length > 2 * headersMax)
      return answerFailure(services, asked, tooManyHeaders());
    // Serve it, but make the client send its next request to another gateway.
    if (services.leaving()) response.setHeader("connection", "close");
    cors?.mark(asked, response);
    if (cors?.answerPreflight(asked, response) === true) return;
    if (match.route.protocol !== undefined) return answerText(asked);
    entered.set(raw, { match, seen });
    for (const listener of others) listener(raw, response);
  };
  return (raw, response) => inOrder(raw.socket, response, () => answer(raw, response));
}
