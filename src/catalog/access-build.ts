/** Converts a provider's access settings from checked configuration rows, and back to rows with secrets masked. */
import { camelCased, snakeCased } from "../base/casing.ts";
import { isObject, type WireObject } from "../base/json.ts";
import { parseProxy, type Proxy } from "../base/proxy.ts";
import type { AuthRow } from "./access-schema.ts";
import type { Access, Auth } from "./access.ts";
import type { ProviderRow } from "./schema.ts";
import { hidden, isSecretKey, mask, masked } from "./secrets.ts";
import { tlsOf, type TlsFiles } from "./tls-files.ts";

const azureScope = "https://cognitiveservices.azure.com/.default";

/** AWS region and service for the signature, read from an address such as `https://bedrock-runtime.us-east-1.amazonaws.com`. */
export function awsScopeOf(baseUrl: string): { region?: string; service?: string } {
  const parts = /^https?:\/\/(?:[^/]*\.)?([a-z0-9-]+)\.([a-z]{2,4}(?:-[a-z]+)+-\d)\./.exec(baseUrl);
  if (!parts) return {};
  const [, service, region] = parts;
  return {
    region: region!,
    service: service!.startsWith("bedrock-runtime") ? "bedrock" : service!,
  };
}

/** Builds `auth` from its row. AWS region and service come from the base URL if the row has none. */
export function authOf(row: AuthRow, baseUrl: string): Auth {
  switch (row.type) {
    case "bearer":
    case "none":
      return { type: row.type };
    case "header":
    case "query":
      return { type: row.type, name: row.name! };
    case "aws": {
      const known = awsScopeOf(baseUrl);
      return {
        ...camelCased(row),
        type: "aws",
        region: row.region ?? known.region!,
        service: row.service ?? known.service!,
      };
    }
    case "azure":
      return { ...camelCased(row), type: "azure", scope: row.scope ?? azureScope };
    case "google":
      return { type: "google", serviceAccountKey: row.service_account_key };
  }
}

/** The `auth` type of a cloud's provider that has neither a key nor `auth`, by dialect. */
export const identityOf: Readonly<Record<string, AuthRow["type"]>> = {
  azure: "azure",
  vertex: "google",
  bedrock: "aws",
};

function authRowOf({ auth, dialect, api_key: key, credentials }: ProviderRow): AuthRow | undefined {
  const type = identityOf[dialect];
  if (auth || key !== undefined || credentials || type === undefined) return auth;
  return { type };
}

const proxyOf = (text: string | undefined): Access["proxy"] =>
  text === undefined || text === "none" ? text : parseProxy(text);

/** The access settings of a provider's row; undefined if it has none. */
export function accessOf(row: ProviderRow, files: TlsFiles): Access | undefined {
  const { headers, query, paths, request, proxy, tls } = row;
  const auth = authRowOf(row);
  const own = [auth, headers, query, paths, request, proxy, tls];
  if (own.every((one) => one === undefined)) return undefined;
  return {
    proxy: proxyOf(proxy),
    tls: tlsOf(tls, files),
    auth: auth && authOf(auth, row.base_url),
    headers: headers ?? {},
    query: query ?? {},
    paths: paths ?? {},
    request: { add: request?.add ?? {}, remove: request?.remove ?? [] },
  };
}

function authRow(auth: Auth): object {
  switch (auth.type) {
    case "aws":
      return {
        ...snakeCased(auth),
        secret_access_key: masked(auth.secretAccessKey),
        session_token: masked(auth.sessionToken),
      };
    case "azure":
      return { ...snakeCased(auth), client_secret: masked(auth.clientSecret) };
    case "google":
      return { type: auth.type, service_account_key: masked(auth.serviceAccountKey) };
    default:
      return auth;
  }
}

function withoutSecrets(value: unknown, key = ""): unknown {
  if (typeof value === "string") return isSecretKey(key) ? mask(value) : value;
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withoutSecrets(each, name)]),
  );
}

const some = (value: WireObject): unknown =>
  Object.keys(value).length === 0 ? undefined : withoutSecrets(value);

function proxyText(proxy: Proxy | "none"): string {
  if (proxy === "none" || proxy.authorization === undefined)
    return proxy === "none" ? proxy : proxy.shown;
  return proxy.shown.replace("://", `://${hidden}@`);
}

/** The configuration row of access settings, with secrets masked. */
export function accessRow(access: Access | undefined) {
  if (access === undefined) return {};
  const { add, remove } = access.request;
  const request = some({
    ...(some(add) === undefined ? {} : { add }),
    ...(remove.length === 0 ? {} : { remove }),
  });
  return {
    proxy: access.proxy && proxyText(access.proxy),
    tls: access.tls && { ...access.tls.files, server_name: access.tls.serverName },
    auth: access.auth && authRow(access.auth),
    headers: some(access.headers),
    query: some(access.query),
    paths: some(access.paths),
    request,
  };
}

/** The values that are masked in output, because their names are names of secrets. */
const namedSecrets = (value: WireObject): string[] =>
  Object.entries(value).flatMap(([name, each]) => {
    if (isObject(each)) return namedSecrets(each);
    return typeof each === "string" && isSecretKey(name) ? [each] : [];
  });

/** The secrets in a provider's access settings. Callers mask them in the vendor's messages and in the requests that they show. */
export function accessSecrets(access: Access | undefined): readonly string[] {
  if (access === undefined) return [];
  const { auth } = access;
  return [
    ...[access.headers, access.query, access.request.add].flatMap(namedSecrets),
    ...(access.proxy === undefined || access.proxy === "none" ? [] : access.proxy.secrets),
    ...(access.tls?.key === undefined ? [] : access.tls.key.split("\n").filter(isKeyLine)),
    ...(auth?.type === "azure" ? [auth.clientSecret] : []),
    ...(auth?.type === "aws" ? [auth.secretAccessKey, auth.sessionToken] : []),
    ...(auth?.type === "google" ? keyFileSecrets(auth.serviceAccountKey) : []),
  ].filter((secret) => secret !== undefined);
}

const isKeyLine = (line: string): boolean => line !== "" && !line.startsWith("-----");

/** Returns only the secrets of a key file. Vendors' messages may contain its other words, so those are not masked. */
const keyFileSecrets = (text = ""): string[] => [
  ...privateKeysOf(text),
  ...Array.from(text.matchAll(userSecret), ([, secret]) => secret!),
];

/** The secrets of a user's credentials, as `gcloud auth application-default login` writes them. */
const userSecret = /"(?:client_secret|refresh_token)"\s*:\s*"([^"]+)"/g;

const privateKeysOf = (text: string): string[] =>
  /"private_key"\s*:\s*"(?:-----[A-Z ]+-----)?(?:\\n)?([^"]*?)(?:-----[A-Z ]+-----)?(?:\\n)?"/
    .exec(text)?.[1]
    ?.split("\\n")
    .filter((line) => line !== "") ?? [];
