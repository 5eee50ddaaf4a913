/**
 * Every path of the gateway, with its rules before its handler runs: protocol, error shape, body limit, needed key, freshness of the
 * key. Both front ends look a request's route up once; the request carries it from then on. One rule covers all spellings. An escaped
 * letter, digit, `-`, `.`, `_` or `~` is that character (RFC 3986, section 6.2.2.2); every other escape is data. `%2F` never separates
 * two segments; only in a model's name is it a slash.
 */
import { getOrCreate } from "../base/memoize.ts";
import type { CallProtocol } from "../protocols/index.ts";
import { fitsRoute, pathIn, withoutEndSlashes } from "./path.ts";

/** The shape of an error: a protocol's, or that of the vendor whose paths are `/api/v1` or `/api/v3`. */
export type ErrorStyle = CallProtocol | "dashscope" | "ark";

/** The rules for a path and all paths below it, also for those without a route. */
interface Area {
  readonly errors: ErrorStyle;
  /** SDKs of Google and Anthropic call these paths too. Their headers identify them, and they get answers in their own shapes. */
  readonly byHeaders?: true;
  /** Which limit its bodies have (bodies/body-limits.ts). */
  readonly body: "text" | "media" | "admin" | "catalog" | "sign_in";
  /** Pages of other origins may call it, where the operator allows them (front/cors.ts). */
  readonly shared?: true;
  /** `?key=` is accepted as the key, because the vendor's tools send it. */
  readonly keyInQuery?: true;
  /** The path, query and body go to the database as text. */
  readonly stored?: true;
}

/** The rules that one route adds. */
interface Rules {
  /** The protocol of a text endpoint; these are answered without Fastify (text/). */
  readonly protocol?: CallProtocol;
  /** It counts tokens in this protocol instead of making a call. */
  readonly counts?: "messages" | "generate_content";
  /** Whether an API key is needed. Absent: none, or the handler checks access itself (management, sign-in, metrics). */
  readonly key?: "needed" | "optional";
  /** The key is looked up in the database. Otherwise a cache is enough, because the reservation that follows asks the database again. */
  readonly fresh?: true;
  /** It counts against the key's limit of requests. */
  readonly limited?: true;
  /** It is still answered while the gateway stops. */
  readonly whileStopping?: true;
}

/** A row may override the error shape and the body limit of its area. */
type Row = Rules & Partial<Pick<Area, "errors" | "body">>;

export interface Route extends Area, Rules {
  /** The pattern: `:name` stands for one segment, `*` for the rest. Undefined if the request matches no route. */
  readonly path: string | undefined;
}

/** The route of a request. */
export interface RouteMatch {
  readonly route: Route;
  /** The path without its query, with needless escapes decoded. */
  readonly path: string;
  /**
   * The decoded rest after `/v1/models/`, or after `/v1beta/` with or without `models/`. Undefined on other paths, and for malformed
   * escapes.
   */
  readonly model?: string | undefined;
}

const calls = { errors: "chat", body: "text", shared: true } as const;
const none: Area = { errors: "chat", body: "text" };

/** By the first one or two segments of a path. */
const areas: ReadonlyMap<string, Area> = new Map<string, Area>([
  ["/v1", calls],
  ["/v1/messages", { ...calls, errors: "messages" }],
  ["/v1/models", { ...calls, byHeaders: true }],
  ["/v1/images", { ...calls, body: "media" }],
  ["/v1/tasks", { ...calls, body: "media" }],
  ["/v1/videos", { ...calls, body: "media" }],
  ["/v1beta", { ...calls, errors: "generate_content", keyInQuery: true }],
  ["/api", calls],
  ["/api/v1", { ...calls, errors: "dashscope", body: "media" }],
  ["/api/v3", { ...calls, errors: "ark", body: "media" }],
  ["/files", calls],
  ["/admin", { errors: "chat", body: "admin", stored: true }],
  ["/auth", { errors: "chat", body: "sign_in", stored: true }],
]);

const calling = { key: "needed", limited: true } as const;
const counting = { ...calling, fresh: true } as const;
const generating = {
  ...calling,
  protocol: "generate_content",
  errors: "generate_content",
} as const;
const reading = { key: "needed", fresh: true } as const;
const generatingCount = { ...generating, ...counting, counts: "generate_content" } as const;
const listing = { key: "optional", fresh: true } as const;
const watching = { whileStopping: true } as const;

/** The routes with their own row. Routes of the management API have rows too (admin/index.ts): their area has the other rules. */
const table = {
  "POST /v1/chat/completions": { ...calling, protocol: "chat" },
  "POST /v1/responses": { ...calling, protocol: "responses" },
  "POST /v1/messages": { ...calling, protocol: "messages" },
  "POST /v1/messages/count_tokens": { ...counting, protocol: "messages", counts: "messages" },
  "POST /v1/embeddings": { ...calling, protocol: "embeddings" },
  // Also under the spellings that current SDKs send: without `models/`, or with `/v1`.
  "POST /v1beta/*:countTokens": generatingCount,
  "POST /v1beta/*": generating,
  "POST /v1/models/*:countTokens": generatingCount,
  "POST /v1/models/*": generating,
  "GET /v1/models": listing,
  "GET /v1/models/*": listing,
  "GET /v1beta/models": listing,
  "GET /v1beta/models/*": listing,
  "GET /v1/key": reading,
  "POST /v1/images/generations": calling,
  "POST /v1/images/edits": calling,
  "POST /v1/tasks": calling,
  "GET /v1/tasks": reading,
  "GET /v1/tasks/:id": reading,
  "DELETE /v1/tasks/:id": reading,
  "POST /v1/tasks/:id/cancel": reading,
  "POST /v1/videos/generations": calling,
  "GET /v1/videos/:id": reading,
  "GET /api/v1/tasks/:id": reading,
  "POST /api/v1/tasks/:id/cancel": reading,
  "POST /api/v3/contents/generations/tasks": calling,
  "GET /api/v3/contents/generations/tasks/:id": reading,
  "DELETE /api/v3/contents/generations/tasks/:id": reading,
  "POST /admin/v1/catalog": { body: "catalog" },
  "GET /files/*": {},
  "GET /healthz": watching,
  "GET /readyz": watching,
  "GET /metrics": watching,
} as const satisfies Record<string, Row>;

export type RouteName = keyof typeof table;

/** All rows, each merged with its area. */
export const routes = Object.fromEntries(
  Object.entries<Row>(table).map(([name, row]) => {
    const { path } = splitName(name);
    return [name, { ...areaOf(path), ...row, path }];
  }),
) as Readonly<Record<RouteName, Route>>;

/** Splits a row's name into its method and path. */
export function splitName(name: string): { method: string; path: string } {
  const [method = "", path = ""] = name.split(" ");
  return { method, path };
}

function areaOf(path: string): Area {
  const first = segmentEnd(path, 1);
  return (
    areas.get(path.slice(0, segmentEnd(path, first + 1))) ?? areas.get(path.slice(0, first)) ?? none
  );
}

function segmentEnd(path: string, from: number): number {
  const slash = path.indexOf("/", from);
  return slash === -1 ? path.length : slash;
}

const unmatchedRoutes: ReadonlyMap<Area, Route> = new Map<Area, Route>(
  [...areas.values(), none].map((area) => [area, { ...area, path: undefined }]),
);
/** The route for an unknown POST below `/v1/models`: its errors have Google's shape for every caller. */
const unmatchedModelRoute: Route = {
  ...areas.get("/v1/models")!,
  errors: "generate_content",
  path: undefined,
};

/** Rows of one method: fixed paths by path, and patterns in order. */
interface Rows {
  readonly exact: Map<string, RouteMatch>;
  readonly patterns: Pattern[];
}

/** The text before and after the `*` of a path. Without `*`, `suffix` is undefined and segments are compared. */
interface Pattern {
  readonly route: Route;
  readonly prefix: string;
  readonly suffix: string | undefined;
}

const byMethod = new Map<string, Rows>();
for (const [name, route] of Object.entries(routes)) {
  const { method, path } = splitName(name);
  const rows = getOrCreate(byMethod, method, () => ({ exact: new Map(), patterns: [] }));
  const [prefix = "", suffix] = path.split("*");
  if (/[:*]/.test(path)) rows.patterns.push({ route, prefix, suffix });
  else rows.exact.set(path, { route, path });
}

/** Returns the route of a method and a request's target, as sent. Most calls are one lookup in a map. */
export function matchRoute(method: string, url: string): RouteMatch {
  return byMethod.get(method)?.exact.get(url) ?? search(method, pathIn(url));
}

function search(method: string, path: string): RouteMatch {
  // HEAD is allowed wherever GET is.
  const rows = byMethod.get(method === "HEAD" ? "GET" : method);
  const exact = rows?.exact.get(path);
  if (exact !== undefined) return exact;
  const model = modelIn(path);
  const found = rows?.patterns.find((pattern) => fits(pattern, path, model));
  return { route: found?.route ?? unmatchedRouteAt(method, path), path, model };
}

const modelPrefix = /^\/(?:v1\/models|v1beta(?:\/models(?=\/))?)\//;

function modelIn(path: string): string | undefined {
  const prefix = modelPrefix.exec(path)?.[0];
  if (prefix === undefined) return undefined;
  const model = path.slice(prefix.length);
  if (!model.includes("%")) return model;
  try {
    return decodeURIComponent(model);
  } catch {
    return undefined;
  }
}

function fits({ route, prefix, suffix }: Pattern, path: string, model?: string): boolean {
  if (suffix === undefined) return fitsRoute(prefix, path);
  if (path.length <= prefix.length || !path.startsWith(prefix)) return false;
  // A call names its method. Without one, and without `models/`, it is another path of Google's, or an SDK has a wrong base URL.
  if (route.protocol !== undefined && !/:|\/models\//.test(path + (model ?? ""))) return false;
  return (model ?? "").endsWith(suffix);
}

/** True if a request with this method and path is answered at `url`, a pattern of the table or of another route. */
export function isServedAt(url: string, method: string, path: string): boolean {
  if (!fitsRoute(url, path)) return false;
  const row: Route | undefined = routes[`${method} ${url}` as RouteName];
  return row === undefined || matchRoute(method, path).route === row;
}

function unmatchedRouteAt(method: string, path: string): Route {
  const area = areaOf(path);
  if (method === "POST" && area.byHeaders === true) return unmatchedModelRoute;
  const likely = likelyRoute(method, path);
  const empty = unmatchedRoutes.get(area)!;
  return likely === undefined ? empty : { ...empty, errors: likely.errors };
}

/** The requests of SDKs, by the part of their path after `/v1`. */
const sdkRequests = (
  [
    "POST /v1/chat/completions",
    "POST /v1/responses",
    "POST /v1/messages",
    "POST /v1/messages/count_tokens",
    "POST /v1/embeddings",
    "POST /v1/images/generations",
    "POST /v1/images/edits",
    "GET /v1/models",
  ] as const
).map((name) => ({ ...splitName(name), tail: name.slice(name.indexOf("/v1") + 3), name }));

/** The prefixes that a wrong base URL puts before such a path. */
const wrongBasePath = /^(?:\/(?:v1|v1beta|api|openai|anthropic|google|gemini)?)*$/;
const generateMethods = [":generateContent", ":streamGenerateContent", ":countTokens"];

/** Returns the route that an unmatched request means, if only its SDK's base URL is wrong. */
export function likelyRoute(method: string, asked: string): Route | undefined {
  const path = withoutEndSlashes(asked);
  const found = sdkRequests.find(
    (one) =>
      one.method === method &&
      path.endsWith(one.tail) &&
      wrongBasePath.test(path.slice(0, -one.tail.length)),
  );
  if (found !== undefined) return routes[found.name];
  const isGenerating = method === "POST" && generateMethods.some((one) => path.endsWith(one));
  const base = path.slice(0, Math.max(path.indexOf("/models/"), 0));
  return isGenerating && wrongBasePath.test(base) ? routes["POST /v1beta/*"] : undefined;
}

/** Returns the shape of a request's errors; for the lists of models, also the shape of the answer. */
export function styleOf(
  { route }: RouteMatch,
  headers: Readonly<Record<string, unknown>>,
): ErrorStyle {
  if (route.byHeaders !== true) return route.errors;
  // Under `/v1` only their headers identify Google's SDKs, and Anthropic's.
  const asGoogle =
    headers["x-goog-api-key"] !== undefined || headers["x-goog-api-client"] !== undefined;
  if (asGoogle) return "generate_content";
  const asAnthropic = route.errors === "chat" && headers["anthropic-version"] !== undefined;
  return asAnthropic ? "messages" : route.errors;
}
