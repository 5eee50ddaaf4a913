/** What a provider's file says of its requests beyond its dialect: where the key stands, headers, query, fields. */
import type { Access, Auth, Provider } from "../catalog/index.ts";
import type { JsonObject } from "../protocols/index.ts";

/** Where a key is written. */
interface PlacedKey {
  readonly headers: Readonly<Record<string, string>>;
  /** Encoded; empty for none. */
  readonly query: string;
}

export const noKey: PlacedKey = { headers: {}, query: "" };

/** A key where the file wants it, or in the dialect's own header. In `authorization` it stands behind `Bearer`. */
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

/** The headers of the file, by lower-case name like all others. */
export const ownHeaders = (access: Access | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(access?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );

/** Parameters as an address has them. */
export const queryText = (query: Readonly<Record<string, string>> = {}): string =>
  Object.entries(query)
    .map((pair) => pair.map(encodeURIComponent).join("="))
    .join("&");

/** A path with parameters added behind those that it has. */
export function withQuery(path: string, query: string): string {
  if (query === "") return path;
  return path + (path.includes("?") ? "&" : "?") + query;
}

/** A body with the fields that the file sets, and without those that it leaves out. Never changes the one given. */
export function withFields(body: JsonObject, access: Access | undefined): JsonObject {
  if (access === undefined) return body;
  const { add, remove } = access.request;
  if (remove.length === 0 && Object.keys(add).length === 0) return body;
  const kept = Object.entries(body).filter(([name]) => !remove.includes(name));
  return { ...Object.fromEntries(kept), ...(add as JsonObject) };
}

const bearer = /^Bearer /;

/** A request for media as the provider's file has it; the dialect has written its key behind `Bearer`. */
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
