/**
 * Every path of the gateway and what holds for it before its handler runs: protocol, shape of errors, limit of bodies, who may
 * ask, how fresh that must be known. Both front ends look a request's route up once; the request carries it from there on.
 * One rule for all spellings: an escaped letter, digit, `-`, `.`, `_` or `~` is that character (RFC 3986, section 6.2.2.2), and
 * every other escape is data: `%2F` never separates two steps. Only in what stands for a model is it a slash.
 */
import { getOrMake } from "../base/made-once.ts";
import type { CallProtocol } from "../protocols/index.ts";
import { fitsRoute, pathIn, withoutEndSlashes } from "./path.ts";

/** Whose error shape an answer has: a protocol's, or that of the vendor whose paths `/api/v1` and `/api/v3` are. */
export type ErrorStyle = CallProtocol | "dashscope" | "ark";

/** What holds for a path and all below it, also where nothing is. */
interface Area {
  readonly errors: ErrorStyle;
  /** Google's SDKs ask here too, recognised by their headers, and are answered in their own shape. */
  readonly google?: true;
  /** Whose limit a body has (bodies/body-limits.ts). */
  readonly body: "text" | "media" | "admin" | "catalog" | "sign_in";
  /** Pages of other origins may call it, where the operator allows them (front/cors.ts). */
  readonly shared?: true;
  /** `?key=` counts, where vendors' tools send it. */
  readonly keyInQuery?: true;
  /** What is sent goes to the database as text. */
  readonly stored?: true;
}

/** What one route adds. */
interface Rules {
  /** The protocol of a text endpoint; these are answered without Fastify (text/). */
  readonly protocol?: CallProtocol;
  /** It counts tokens in this protocol instead of making a call. */
  readonly counts?: "messages" | "generate_content";
  /** Whose API key is needed; absent where none is, or where the handler looks itself (management, sign-in, metrics). */
  readonly key?: "needed" | "optional";
  /** The key is looked up in the database. Else a cache will do: a reservation follows, which asks the database again. */
  readonly fresh?: true;
  /** It counts against the key's limit of requests. */
  readonly limited?: true;
  /** It is answered while the gateway stops. */
  readonly whileStopping?: true;
}

/** Its errors have another shape than those of its area, and its body another limit, where it says so. */
type Row = Rules & Partial<Pick<Area, "errors" | "body">>;

export interface Route extends Area, Rules {
  /** The pattern: `:name` stands for one step, `*` for all that follow; undefined where nothing is. */
  readonly path: string | undefined;
}

/** Where a request goes. */
export interface RouteMatch {
  readonly route: Route;
  /** The path without its query, in the one spelling that counts. */
  readonly path: string;
  /** What stands behind `/v1/models/`, decoded, or behind `/v1beta/` with or without `models/`; undefined on other paths and for malformed escapes. */
  readonly model?: string | undefined;
}

const calls = { errors: "chat", body: "text", shared: true } as const;
const none: Area = { errors: "chat", body: "text" };

/** By the first step of a path, or its first two. */
const areas: ReadonlyMap<string, Area> = new Map<string, Area>([
  ["/v1", calls],
  ["/v1/messages", { ...calls, errors: "messages" }],
  ["/v1/models", { ...calls, google: true }],
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

/** The routes with a row of their own. Those of the management API are rows too (admin/index.ts): their area says the rest. */
const table = {
  "POST /v1/chat/completions": { ...calling, protocol: "chat" },
  "POST /v1/responses": { ...calling, protocol: "responses" },
  "POST /v1/messages": { ...calling, protocol: "messages" },
  "POST /v1/messages/count_tokens": { ...counting, protocol: "messages", counts: "messages" },
  "POST /v1/embeddings": { ...calling, protocol: "embeddings" },
  // Under the spellings that current SDKs send: without `models/`, or with `/v1`.
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

/** All rows, each with what its area has. */
export const routes = Object.fromEntries(
  Object.entries<Row>(table).map(([name, row]) => {
    const { path } = splitName(name);
    return [name, { ...areaOf(path), ...row, path }];
  }),
) as Readonly<Record<RouteName, Route>>;

/** A row's name is its method and its path. */
export function splitName(name: string): { method: string; path: string } {
  const [method = "", path = ""] = name.split(" ");
  return { method, path };
}

function areaOf(path: string): Area {
  const first = stepEnd(path, 1);
  return (
    areas.get(path.slice(0, stepEnd(path, first + 1))) ?? areas.get(path.slice(0, first)) ?? none
  );
}

function stepEnd(path: string, from: number): number {
  const slash = path.indexOf("/", from);
  return slash === -1 ? path.length : slash;
}

const nothing: ReadonlyMap<Area, Route> = new Map<Area, Route>(
  [...areas.values(), none].map((area) => [area, { ...area, path: undefined }]),
);
/** Where a model that is called would be: in Google's style, whoever asks. */
const noModel: Route = { ...areas.get("/v1/models")!, errors: "generate_content", path: undefined };

/** Rows of one method: those without a place for anything, by their path, and the others in their order. */
interface Rows {
  readonly exact: Map<string, RouteMatch>;
  readonly patterns: Pattern[];
}

/** What stands before and behind the `*` of a path; without one its steps are compared. */
interface Pattern {
  readonly route: Route;
  readonly before: string;
  readonly behind: string | undefined;
}

const byMethod = new Map<string, Rows>();
for (const [name, route] of Object.entries(routes)) {
  const { method, path } = splitName(name);
  const rows = getOrMake(byMethod, method, () => ({ exact: new Map(), patterns: [] }));
  const [before = "", behind] = path.split("*");
  if (/[:*]/.test(path)) rows.patterns.push({ route, before, behind });
  else rows.exact.set(path, { route, path });
}

/** The route of a method and a request's target, as sent. Most calls are one look into a map. */
export function matchRoute(method: string, url: string): RouteMatch {
  return byMethod.get(method)?.exact.get(url) ?? search(method, pathIn(url));
}

function search(method: string, path: string): RouteMatch {
  // What may be read may be asked for without its body.
  const rows = byMethod.get(method === "HEAD" ? "GET" : method);
  const exact = rows?.exact.get(path);
  if (exact !== undefined) return exact;
  const model = modelIn(path);
  const found = rows?.patterns.find((pattern) => fits(pattern, path, model));
  return { route: found?.route ?? nothingAt(method, path), path, model };
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

function fits({ before, behind }: Pattern, path: string, model = ""): boolean {
  if (behind === undefined) return fitsRoute(before, path);
  return path.length > before.length && path.startsWith(before) && model.endsWith(behind);
}

function nothingAt(method: string, path: string): Route {
  const area = areaOf(path);
  if (method === "POST" && area.google === true) return noModel;
  const meant = likelyRoute(method, path);
  const empty = nothing.get(area)!;
  return meant === undefined ? empty : { ...empty, errors: meant.errors };
}

/** What SDKs ask for, by what stands behind the `/v1` of its path. */
const tails = (
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

/** What a base URL with the wrong path puts before it. */
const wrongBase = /^(?:\/(?:v1|v1beta|api|openai|anthropic|google|gemini)?)*$/;
const generateMethods = [":generateContent", ":streamGenerateContent", ":countTokens"];

/** The route that a request to nothing means, where only its SDK's base URL is wrong. */
export function likelyRoute(method: string, asked: string): Route | undefined {
  const path = withoutEndSlashes(asked);
  const found = tails.find(
    (one) =>
      one.method === method &&
      path.endsWith(one.tail) &&
      wrongBase.test(path.slice(0, -one.tail.length)),
  );
  if (found !== undefined) return routes[found.name];
  const isGenerating = method === "POST" && generateMethods.some((one) => path.endsWith(one));
  const base = path.slice(0, Math.max(path.indexOf("/models/"), 0));
  return isGenerating && wrongBase.test(base) ? routes["POST /v1beta/*"] : undefined;
}

/** The shape of a request's errors, which for the lists of models is the shape of the answer too. */
export function styleOf(
  { route }: RouteMatch,
  headers: Readonly<Record<string, unknown>>,
): ErrorStyle {
  if (route.google !== true) return route.errors;
  // Under `/v1` only their headers tell Google's SDKs from everybody else's.
  const asGoogle =
    headers["x-goog-api-key"] !== undefined || headers["x-goog-api-client"] !== undefined;
  return asGoogle ? "generate_content" : route.errors;
}
