/**
 * Observes every request from its arrival to its end: the count in flight, where its key is used from, an access log line, and its
 * span. Line and span name the route's pattern and the key's id, but no path, query or header, which may have secrets. docs/operate.md
 * "Access log"; docs/monitoring.md.
 */
import type { ServerResponse } from "node:http";
import type { TrustedProxies } from "../../base/client-address.ts";
import type { AccessLog } from "../../base/log.ts";
import { sharedParts } from "../../base/shared-parts.ts";
import type { Span, Tracer } from "../../base/tracing.ts";
import type { KeyClients } from "../../request-log/index.ts";
import { addressOf } from "../client-address.ts";
import type { RequestHead, RequestRecord } from "../exchange.ts";
import type { RouteMatch } from "../routes.ts";
import type { FastResponse } from "./fast/index.ts";

export interface WatchServices {
  /** Absent: no access log. */
  readonly accessLog?: AccessLog | undefined;
  /** Absent: no traces. */
  readonly tracer?: Tracer | undefined;
  /** Requests on routes with a key that are in flight. */
  readonly metrics: { readonly inFlight: { total: number } };
  readonly trustedProxies: TrustedProxies;
  readonly clients: Pick<KeyClients, "note">;
}

/** A request as it came in. */
interface Incoming {
  readonly raw: RequestHead;
  readonly match: RouteMatch;
  readonly id: string;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** False for health and metrics: the same people poll them all the time who read the log. */
const isWatched = ({ route }: RouteMatch): boolean => route.whileStopping !== true;

/** The status that proxies log for a client that left before the answer began. */
const clientLeft = 499;

/** One request in flight. */
class InFlightRequest implements RequestRecord {
  keyId: string | undefined = undefined;
  route: string | undefined = undefined;
  readonly span: Span | undefined;
  readonly #services: WatchServices;
  readonly #request: Incoming;
  /** The client's address, read now: a closed connection has none. */
  readonly #address: string;
  readonly #beganMs = performance.now();
  readonly #counts: boolean;

  constructor(services: WatchServices, request: Incoming) {
    this.#services = services;
    this.#request = request;
    this.#counts = request.match.route.key !== undefined;
    this.#address =
      services.accessLog === undefined && !this.#counts
        ? ""
        : addressOf(
            { headers: request.raw.headers, socket: request.socket },
            services.trustedProxies,
          );
    this.span = services.tracer && spanOf(services.tracer, request, this.#beganMs);
    if (this.#counts) services.metrics.inFlight.total += 1;
  }

  /** Call it when the answer is over; `whole`: it was written to its end. */
  answerEnded(status: number, bytes: number, whole: boolean): void {
    const { accessLog, metrics, clients } = this.#services;
    if (this.#counts) metrics.inFlight.total -= 1;
    const { match, raw, id } = this.#request;
    const { keyId } = this;
    if (keyId !== undefined) {
      clients.note({ keyId, address: this.#address, userAgent: raw.headers["user-agent"] });
    }
    const route = match.route.path ?? this.route;
    const shown = status === 0 ? clientLeft : status;
    if (this.span?.isSampled === true) this.#endSpan(this.span, route, shown);
    if (accessLog === undefined || !isWatched(match)) return;
    accessLog.write({
      request: id,
      method: raw.method ?? "",
      route,
      status: shown,
      ms: performance.now() - this.#beganMs,
      bytes,
      whole,
      address: this.#address,
      keyId,
    });
  }

  #endSpan(span: Span, route: string | undefined, status: number): void {
    const { raw, id } = this.#request;
    span.share(partOf(route, raw.method ?? "", status));
    span.add("tollgate.request_id", id);
    span.add("tollgate.key_id", this.keyId);
    span.end(status >= 500 ? String(status) : undefined);
  }
}

/** The span's name and attributes. Set at the end, because only then the pattern is known of routes that the table does not have. */
const partOf = sharedParts((route: string | undefined, method: string, status: number) => ({
  name: route === undefined ? method : `${method} ${route}`,
  attributes: {
    "http.request.method": method,
    "http.route": route,
    "http.response.status_code": status,
  },
}));

function spanOf(tracer: Tracer, { match, raw }: Incoming, beganMs: number): Span | undefined {
  if (!isWatched(match)) return undefined;
  const { traceparent } = raw.headers;
  const parent = typeof traceparent === "string" ? traceparent : undefined;
  return tracer.start("server", raw.method ?? "", parent, beganMs);
}

/** Watches a request that Node has read. */
export function watchNode(
  services: WatchServices,
  request: Incoming,
  response: ServerResponse,
): RequestRecord {
  const { socket } = response;
  const before = socket?.bytesWritten ?? 0;
  const inFlightRequest = new InFlightRequest(services, request);
  // Remember the bytes at `finish`: afterwards the connection may belong to another request.
  let written = 0;
  response.once("finish", () => (written = (socket?.bytesWritten ?? 0) - before));
  response.once("close", () => {
    const whole = response.writableFinished;
    const bytes = whole ? written : (socket?.bytesWritten ?? 0) - before;
    inFlightRequest.answerEnded(response.headersSent ? response.statusCode : 0, bytes, whole);
  });
  return inFlightRequest;
}

/** Watches a request of the fast path. */
export function watchFast(
  services: WatchServices,
  request: Incoming,
  response: FastResponse,
): RequestRecord {
  const inFlightRequest = new InFlightRequest(services, request);
  response.watch = inFlightRequest;
  return inFlightRequest;
}
