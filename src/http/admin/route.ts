/**
 * A route of the management API as data: the same value checks its requests, answers them, and describes them in the
 * OpenAPI document. docs/management.md.
 */
import type { Static, TObject, TSchema } from "../../base/json-schema.ts";
import type { Action, Actor, Asked, EventHub, Sink } from "../../admin/index.ts";
import type { ErrorCode } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { AdminServices } from "../services.ts";

/** What a handler works with: who asks for what, checked against the route's schemas. */
export interface AdminRequest<Body, Query> extends Asked {
  readonly services: AdminServices;
  readonly log: Pick<Log, "warn">;
  readonly actor: Actor;
  /** The named steps of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly query: Query;
  readonly idempotencyKey: string | undefined;
  /** For an answer that goes on; absent where nobody could follow it, on the command line. */
  readonly live?: Live | undefined;
}

/** What a stream of events needs. */
interface Live {
  readonly hub: EventHub;
  readonly lastEventId: string | undefined;
  /** Who asks, looked up anew. @throws GatewayError 401 or 403 where they may not any more */
  readonly actorAgain: () => Promise<Actor>;
}

/** What a handler answers. */
export interface AdminAnswer {
  readonly body: object;
  /** 200 if absent. */
  readonly status?: number;
  /** The entity tag of the object in the body. */
  readonly etag?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream of events in place of the body: takes where they go, and returns how to leave. */
  readonly begin?: (sink: Sink) => () => void;
}

export interface RouteOptions<Body extends TSchema, Query extends TObject> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below `/admin/v1`, such as `/keys/{id}`. */
  readonly path: string;
  /** Unique in the OpenAPI document. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** The row of the table of rights; null for what every actor may do. */
  readonly action: Action | null;
  readonly body?: Body;
  /** A body that is accepted, for the document; `{}` if absent. */
  readonly example?: Static<Body>;
  /** Fields whose values are all text, as they come. */
  readonly query?: Query;
  /** The name and the schema of the answer's body. */
  readonly answer: NamedSchema;
  readonly status?: number;
  /** It takes an `Idempotency-Key`, and answers 200 with what that made before: what the document says of it. */
  readonly replays?: string;
  /** It answers as CSV too, to who accepts that: the columns, which are fields of a row, `usage.input_tokens` within one. */
  readonly csv?: readonly string[];
  /** It answers with server-sent events; `answer` is the data of one, and only a session opens it. */
  readonly events?: true;
  /** It changes an object that has an entity tag, and heeds `If-Match`. */
  readonly conditional?: true;
  /** What it answers with besides the errors that every route has. */
  readonly errors?: readonly ErrorCode[];
  handle(request: AdminRequest<Static<Body>, Static<Query>>): Promise<AdminAnswer>;
}

export interface NamedSchema {
  readonly name: string;
  readonly schema: TSchema;
}

/** A route whatever its body and query. */
export type AdminRoute = Omit<RouteOptions<TSchema, TObject>, "handle"> & {
  handle(request: AdminRequest<unknown, unknown>): Promise<AdminAnswer>;
};

/** Declares a route; its handler gets the types of its schemas. */
export function route<Body extends TSchema = TSchema, Query extends TObject = TObject>(
  options: RouteOptions<Body, Query>,
): AdminRoute {
  // The schemas are checked before the handler is called.
  return options;
}
