/**
 * A route of the management API as data: the same value checks its requests, answers them, and describes them in the
 * OpenAPI document. docs/management.md.
 */
import type { Static, TObject, TSchema } from "../../base/json-schema.ts";
import type { Action, Actor, RequestContext, EventHub, Sink } from "../../admin/index.ts";
import type { ErrorCode } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { AdminServices } from "../services.ts";

/** The request that a handler gets: the actor, and the input that the route's schemas have checked. */
export interface AdminRequest<Body, Query> extends RequestContext {
  readonly services: AdminServices;
  readonly log: Pick<Log, "warn">;
  readonly actor: Actor;
  /** The named segments of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly query: Query;
  readonly idempotencyKey: string | undefined;
  /** For streaming answers; absent on the command line, where no reader could follow. */
  readonly live?: Live | undefined;
}

/** The input of an event stream. */
interface Live {
  readonly hub: EventHub;
  readonly lastEventId: string | undefined;
  /** Authenticates the actor again. @throws GatewayError 401 or 403 if the right has ended */
  readonly actorAgain: () => Promise<Actor>;
}

/** The answer of a handler. */
export interface AdminAnswer {
  readonly body: object;
  /** 200 if absent. */
  readonly status?: number;
  /** The entity tag of the object in the body. */
  readonly etag?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream of events in place of the body: gets the sink for them, and returns the function to leave. */
  readonly begin?: (sink: Sink) => () => void;
}

export interface RouteOptions<Body extends TSchema, Query extends TObject> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** The path below `/admin/v1`, such as `/keys/{id}`. */
  readonly path: string;
  /** Unique in the OpenAPI document. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** The action in the table of rights; null if every actor may do it. */
  readonly action: Action | null;
  readonly body?: Body;
  /** An accepted body, for the document; `{}` if absent. */
  readonly example?: Static<Body>;
  /** The query's fields; all values arrive as text. */
  readonly query?: Query;
  /** The name and the schema of the answer's body. */
  readonly answer: NamedSchema;
  readonly status?: number;
  /** The route takes an `Idempotency-Key`, and answers a repeat with 200 and the first result: the document's description of that. */
  readonly replays?: string;
  /** The CSV columns, if the route also answers with CSV: fields of a row, `usage.input_tokens` for an inner one. */
  readonly csv?: readonly string[];
  /** The route answers with server-sent events; `answer` is the data of one. It needs a session. */
  readonly events?: true;
  /** The route changes an object that has an entity tag, and checks `If-Match`. */
  readonly conditional?: true;
  /** Its errors besides those that every route has. */
  readonly errors?: readonly ErrorCode[];
  handle(request: AdminRequest<Static<Body>, Static<Query>>): Promise<AdminAnswer>;
}

export interface NamedSchema {
  readonly name: string;
  readonly schema: TSchema;
}

/** A route with any body and query. */
export type AdminRoute = Omit<RouteOptions<TSchema, TObject>, "handle"> & {
  handle(request: AdminRequest<unknown, unknown>): Promise<AdminAnswer>;
};

/** True if a request needs a body: only a POST whose fields are all optional may be sent without one. */
export const needsBody = ({ method, body }: AdminRoute): boolean =>
  body !== undefined &&
  (method !== "POST" || ((body as Partial<TObject>).required ?? []).length > 0);

/** Declares a route; its handler gets the types of its schemas. */
export function route<Body extends TSchema = TSchema, Query extends TObject = TObject>(
  options: RouteOptions<Body, Query>,
): AdminRoute {
  // The schemas are checked before the handler is called.
  return options;
}
