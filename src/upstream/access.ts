/** Settings of a provider's file for its requests, beyond its dialect: place of the key, headers, query and body fields. */
import type { Access, Auth, Provider } from "../catalog/index.ts";
import type { JsonObject } from "../protocols/index.ts";

/** A key, as headers or as a query. */
interface PlacedKey {
  readonly headers: Readonly<Record<string, string>>;
  /** Encoded; empty for none. */
  readonly query: string;
}

export const noKey: PlacedKey = { headers: {}, query: "" };

/** Places a key where the file says, or in the dialect's own header. In `authorization` it follows `Bearer`. */
export function placeKey(auth: Auth | undefined, ownHeader: string, apiKey: string): PlacedKey {
  if (apiKey === "") return noKey;
  switch (auth?.type) {
    case undefined:
      return inHeader(ownHeader, apiKey);
    case "bearer":
      return inHeader("authorization", apiKey);
    case "header":
      return { headers: { [auth.name.toLowerCase()]: apiKey }, query: "" };
    case "query":
      return { headers: {}, query: queryText({ [auth.name]: apiKey }) };
    default:
      return noKey;
  }
}

const inHeader = (name: string, apiKey: string): PlacedKey => ({
  headers: { [name]: name === "authorization" ? `Bearer ${apiKey}` : apiKey },
  query: "",
});

/** The headers of the file, with lower-case names like all others. */
export const ownHeaders = (access: Access | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(access?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );

/** Returns parameters in URL encoding. */
export const queryText = (query: Readonly<Record<string, string>> = {}): string =>
  Object.entries(query)
    .map((pair) => pair.map(encodeURIComponent).join("="))
    .join("&");

/** Appends a query to a path, after any query that it has. */
export function withQuery(path: string, query: string): string {
  if (query === "") return path;
  return path + (path.includes("?") ? "&" : "?") + query;
}

/** Returns the body with the fields that the file adds, and without those that it removes. Never changes `body`. */
export function withFields(body: JsonObject, access: Access | undefined): JsonObject {
  if (access === undefined) return body;
  const { add, remove } = access.request;
  if (remove.length === 0 && Object.keys(add).length === 0) return body;
  const kept = Object.entries(body).filter(([name]) => !remove.includes(name));
  return { ...Object.fromEntries(kept), ...(add as JsonObject) };
}

const bearer = /^Bearer /;

/** Applies the provider's file to a media request, in which the dialect has written its key after `Bearer`. */
export function withAccess<Request extends PlacedRequest>(
  { access }: Provider,
  request: Request,
): Request {
  if (access === undefined) return request;
  const { authorization = "", ...others } = request.headers;
  const key = placeKey(access.auth, "authorization", authorization.replace(bearer, ""));
  return {
    ...request,
    path: [queryText(access.query), key.query].reduce(withQuery, request.path),
    headers: { ...others, ...key.headers, ...ownHeaders(access) },
  };
}

interface PlacedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}
