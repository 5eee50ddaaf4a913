/**
 * The management API in the OpenAPI document, generated from the routes themselves: the same schemas check and describe a request.
 * docs/management.md.
 */
import { Type, type TObject } from "../../base/json-schema.ts";
import { ref } from "../shapes/schema.ts";
import type { ErrorCode } from "../../base/errors.ts";
import { adminPrefix, adminRoutes, needsBody, type AdminRoute } from "../admin/index.ts";
import {
  jsonContent,
  requestBody,
  requestIdHeaders,
  type Node,
  type Operation,
  type Part,
} from "./document.ts";
import { errorResponses } from "./errors.ts";
import { replayed } from "./tasks.ts";

/** Either an admin token or a session is enough. */
const adminCredential: readonly Node[] = [{ adminToken: [] }, { session: [] }];

const always = [
  "missing_credential",
  "invalid_credential",
  "password_change_required",
  "internal_error",
  "database_unavailable",
  "overloaded",
] satisfies ErrorCode[];
const written = ["cross_origin_request"] satisfies ErrorCode[];
/** Errors of a body, which is also checked where none is needed. */
const posted = ["unsupported_media_type", "request_too_large"] satisfies ErrorCode[];
const bodied = [
  "unknown_parameter",
  "invalid_value",
  "invalid_json",
  "missing_required_parameter",
  "invalid_type",
  "string_above_max_length",
  "integer_above_max_value",
  "integer_below_min_value",
] satisfies ErrorCode[];

/** Errors of a query. As CSV, a period is required. */
function queryCodes({ query, csv }: AdminRoute): ErrorCode[] {
  if (query === undefined) return [];
  const isBounded = Object.values(query.properties).some((field) => "maxLength" in field);
  const isNeeded = (query.required ?? []).length > 0 || csv !== undefined;
  return [
    "unknown_parameter",
    "invalid_value",
    ...(isBounded ? (["string_above_max_length"] as const) : []),
    ...(isNeeded ? (["missing_required_parameter"] as const) : []),
  ];
}

function codesOf(route: AdminRoute): ErrorCode[] {
  return [
    ...new Set<ErrorCode>([
      ...always,
      ...(route.method === "GET" ? [] : written),
      ...(route.method === "POST" || route.body !== undefined ? posted : []),
      ...(route.body === undefined ? [] : bodied),
      ...queryCodes(route),
      ...(route.conditional === true ? (["precondition_failed"] as const) : []),
      ...(route.errors ?? []),
    ]),
  ];
}

const ifMatch: Node = {
  name: "If-Match",
  in: "header",
  required: false,
  description:
    "The `ETag` of the object that you read. If the object has changed since, the answer is 412 and nothing changes.",
  schema: Type.String(),
};

const idempotencyKey: Node = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Identifies the credit: sending it again adds nothing.",
  schema: Type.String({ minLength: 1, maxLength: 255 }),
};

function parametersOf(route: AdminRoute): Node[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: Type.String(),
  }));
  const query = (route.query ?? Type.Object({})) as TObject;
  const inQuery = Object.entries(query.properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: query.required?.includes(name) ?? false,
    schema,
  }));
  return [
    ...inPath,
    ...inQuery,
    ...(route.conditional === true ? [ifMatch] : []),
    ...(route.replays === undefined ? [] : [idempotencyKey]),
  ];
}

/** A stream of events; `name` is the schema of each event's data. */
const eventContent = (name: string): Node => ({ "text/event-stream": { schema: ref(name) } });

const contentOf = ({ answer, events }: AdminRoute): Node =>
  events === true ? eventContent(answer.name) : jsonContent(answer.name);

/** The answer to a repeated request. */
const replay = ({ answer, replays }: AdminRoute): Node =>
  replays === undefined
    ? {}
    : {
        200: {
          description: replays,
          headers: { ...requestIdHeaders("chat"), ...replayed },
          content: jsonContent(answer.name),
        },
      };

const bodyName = ({ operationId }: AdminRoute): string =>
  `${operationId[0]!.toUpperCase()}${operationId.slice(1)}Request`;

function operationOf(route: AdminRoute): Operation {
  const { status = 200 } = route;
  return {
    operationId: route.operationId,
    tags: ["Management"],
    summary: route.summary,
    description:
      `${route.description ?? ""}${route.csv === undefined ? "" : " As CSV to `Accept: text/csv`, with `from` and `to`."}`.trim(),
    parameters: parametersOf(route),
    security: route.events === true ? [{ session: [] }] : adminCredential,
    ...(route.body !== undefined && {
      requestBody: {
        ...requestBody({
          schema: bodyName(route),
          examples: { plain: { value: route.example ?? {} } },
        }),
        required: needsBody(route),
      },
    }),
    responses: {
      [status]: {
        description: status === 201 ? "Created." : "Done.",
        headers: requestIdHeaders("chat"),
        content: contentOf(route),
      },
      ...replay(route),
      ...errorResponses("chat", codesOf(route)),
    },
  };
}

function paths(): Part["paths"] {
  const byPath = Map.groupBy(adminRoutes, ({ path }) => adminPrefix + path);
  return Object.fromEntries(
    [...byPath].map(([path, group]) => [
      path,
      Object.fromEntries(group.map((route) => [route.method.toLowerCase(), operationOf(route)])),
    ]),
  );
}

function schemas(): Record<string, object> {
  const answers = adminRoutes.map(({ answer }) => [answer.name, answer.schema] as const);
  const bodies = adminRoutes
    .filter(({ body }) => body !== undefined)
    .map((route) => [bodyName(route), route.body!] as const);
  return Object.fromEntries<object>([...answers, ...bodies]);
}

export const admin: Part = { paths: paths(), schemas: schemas() };
