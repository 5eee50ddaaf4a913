/** Checks of a provider's access settings that the schema cannot express. */
import { isObject, type WireObject } from "../base/json.ts";
import { suggest } from "../base/suggest.ts";
import { awsScopeOf, identityOf } from "./access-build.ts";
import { isOlderAzure } from "./cloud-hosts.ts";
import type { Finding, Path } from "./mistakes.ts";
import { checkProxy, checkTls, type TlsFiles } from "./tls-files.ts";
import { offerProtocols } from "./types.ts";

interface Row {
  readonly path: Path;
  readonly row: WireObject;
}

/** The fields that each type of `auth` takes beside `type`. */
const membersOf: Readonly<Record<string, readonly string[]>> = {
  bearer: [],
  none: [],
  header: ["name"],
  query: ["name"],
  aws: ["region", "service", "access_key_id", "secret_access_key", "session_token", "profile"],
  azure: ["tenant_id", "client_id", "client_secret", "authority_host", "scope"],
  google: ["service_account_key"],
};

/** Fields that need other fields beside them. */
const partners: Readonly<Record<string, readonly string[]>> = {
  client_secret: ["tenant_id", "client_id"],
  tenant_id: ["client_secret"],
  access_key_id: ["secret_access_key"],
  secret_access_key: ["access_key_id"],
  session_token: ["access_key_id"],
};

const isGiven = (value: unknown): boolean => value !== undefined;

function checkAuth({ path, row }: Row): Finding[] {
  const { auth } = row;
  if (!isObject(auth) || typeof auth["type"] !== "string") return [];
  const { type } = auth;
  const members = Object.hasOwn(membersOf, type) ? membersOf[type]! : undefined;
  if (!members) return [];
  const at = [...path, "auth"];
  const findings = Object.keys(auth).flatMap((name): Finding[] => {
    if (name === "type" || members.includes(name)) return [];
    if (!Object.values(membersOf).some((others) => others.includes(name))) return [];
    const fix = members.length === 0 ? "remove it" : `${type} takes ${members.join(", ")}`;
    return [{ path: [...at, name], atKey: true, message: `does not go with ${type}`, fix }];
  });
  for (const [name, needed] of Object.entries(partners))
    for (const partner of needed)
      if (members.includes(name) && isGiven(auth[name]) && !isGiven(auth[partner]))
        findings.push({ path: [...at, partner], message: "missing", fix: `${name} needs it` });
  if (members.includes("name") && !isGiven(auth["name"]))
    findings.push({ path: [...at, "name"], message: "missing", fix: `name the ${type}` });
  return [...findings, ...checkAwsScope(auth, row, at), ...checkKeys(type, row, path)];
}

function checkAwsScope(auth: WireObject, row: WireObject, at: Path): Finding[] {
  if (auth["type"] !== "aws" || typeof row["base_url"] !== "string") return [];
  const known = awsScopeOf(row["base_url"]);
  return (["region", "service"] as const).flatMap((name): Finding[] =>
    isGiven(auth[name]) || isGiven(known[name])
      ? []
      : [{ path: [...at, name], message: "missing", fix: "base_url does not tell it" }],
  );
}

/** True if an identity authorizes requests, rather than a key. */
export const isIdentity = (auth: unknown): boolean =>
  isObject(auth) && ["aws", "azure", "google"].includes(String(auth["type"]));

/** True if a provider needs no key, because it uses the identity of its cloud. */
export const isKeyless = ({ auth, dialect }: WireObject): boolean =>
  isIdentity(auth) || (auth === undefined && Object.hasOwn(identityOf, String(dialect)));

function checkKeys(type: string, row: WireObject, path: Path): Finding[] {
  if (!isIdentity(row["auth"])) return [];
  return ["api_key", "credentials"].flatMap((name): Finding[] =>
    isGiven(row[name])
      ? [
          {
            path: [...path, name],
            atKey: true,
            message: `does not go with auth: { type: ${type} }`,
            fix: "remove one of them",
          },
        ]
      : [],
  );
}

/** Headers that only the HTTP client sets. */
const ownHeaders = new Set([
  "host",
  "connection",
  "content-length",
  "content-type",
  "transfer-encoding",
  "accept-encoding",
  "upgrade",
]);

function checkHeaders({ path, row }: Row): Finding[] {
  const { headers } = row;
  if (!isObject(headers)) return [];
  return Object.entries(headers).flatMap(([name, value]): Finding[] => {
    const at = [...path, "headers", name];
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      return [{ path: at, atKey: true, message: "is not a header's name", fix: "" }];
    if (ownHeaders.has(name.toLowerCase()))
      return [{ path: at, atKey: true, message: "cannot be set", fix: "remove it" }];
    if (typeof value !== "string" || /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return [];
    return [{ path: at, message: "has a character that no header can have", fix: "" }];
  });
}

const pathProtocols: readonly string[] = [...offerProtocols, "embeddings"];

function checkPaths({ path, row }: Row): Finding[] {
  const { paths } = row;
  if (!isObject(paths)) return [];
  return Object.entries(paths).flatMap(([protocol, template]): Finding[] => {
    const at = [...path, "paths", protocol];
    if (!pathProtocols.includes(protocol)) {
      const fix = suggest(protocol, pathProtocols);
      return [{ path: at, atKey: true, message: "is no protocol", fix }];
    }
    if (typeof template !== "string") return [];
    const allowed = protocol === "generate_content" ? ["{model}", "{method}"] : ["{model}"];
    const unknown = template.match(/\{[^}]*\}?|\}/g)?.find((part) => !allowed.includes(part));
    if (unknown !== undefined)
      return [{ path: at, message: `has ${unknown}`, fix: `allowed: ${allowed.join(", ")}` }];
    if (/^\/[\x21-\x7e]*$/.test(template) && !template.includes("#")) return [];
    return [{ path: at, message: "is no path", fix: "write /path/{model}" }];
  });
}

/** Request fields that only the gateway sets. */
const fixedFields = ["model", "stream", "stream_options"];

function checkRequest({ path, row }: Row): Finding[] {
  const { request } = row;
  if (!isObject(request)) return [];
  const { add, remove } = request;
  const added = isObject(add) ? Object.keys(add) : [];
  const removed: readonly unknown[] = Array.isArray(remove) ? remove : [];
  return added.flatMap((name): Finding[] => {
    const at = [...path, "request", "add", name];
    if (fixedFields.includes(name))
      return [{ path: at, atKey: true, message: "is the gateway's own", fix: "remove it" }];
    if (!removed.includes(name)) return [];
    return [{ path: at, atKey: true, message: "is removed as well", fix: "keep one of them" }];
  });
}

interface AddressForm {
  readonly fits: RegExp;
  /** Another form, for providers with a key. */
  readonly fitsWithKey?: RegExp;
  readonly fix: string;
}

/** The required form of a cloud's base URL, by dialect. */
const addresses: Readonly<Record<string, AddressForm>> = {
  azure: {
    fits: /\/(?:openai\/v1|anthropic\/v1|openai)\/*$/,
    fix: "write https://RESOURCE.openai.azure.com/openai/v1, or .../openai with query: { api-version: ... }",
  },
  vertex: {
    // Express mode has no projects.
    fitsWithKey: /^https:\/\/aiplatform\.googleapis\.com\/v1(?:beta1)?\/*$/,
    fits: /\/v1(?:beta1)?\/projects\/[^/]+\/locations\/[^/]+\/*$/,
    fix: "write https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION",
  },
};

const fitsAddress = ({ fits, fitsWithKey }: AddressForm, row: WireObject, url: string): boolean =>
  fits.test(url) ||
  (fitsWithKey?.test(url) === true && (isGiven(row["api_key"]) || isGiven(row["credentials"])));

function checkAddress({ path, row }: Row): Finding[] {
  const { dialect, base_url: url, query } = row;
  if (typeof dialect !== "string" || typeof url !== "string") return [];
  const address = Object.hasOwn(addresses, dialect) ? addresses[dialect]! : undefined;
  if (address && /^https?:/.test(url) && !fitsAddress(address, row, url)) {
    const message = `"${url}" is no address of ${dialect}`;
    return [{ path: [...path, "base_url"], message, fix: address.fix }];
  }
  const isBare = ["auth", "api_key", "credentials"].every((name) => !isGiven(row[name]));
  if (dialect === "bedrock" && isBare) {
    const { region, service } = awsScopeOf(url);
    const fix = "write auth: { type: aws, region: ..., service: bedrock }, or give api_key";
    if (region === undefined || service === undefined)
      return [{ path: [...path, "auth"], message: "missing: this address names no region", fix }];
  }
  const isOlder = dialect === "azure" && isOlderAzure(url);
  if (!isOlder || (isObject(query) && isGiven(query["api-version"]))) return [];
  const message = "missing: this address needs a version";
  return [{ path: [...path, "query", "api-version"], message, fix: 'write "2024-10-21"' }];
}

/** Finds every mistake in one provider's access settings. */
export const checkAccess = (provider: Row, files: TlsFiles): Finding[] => [
  ...checkProxy(provider.row, provider.path),
  ...checkTls(provider.row, provider.path, files),
  ...checkAddress(provider),
  ...checkAuth(provider),
  ...checkHeaders(provider),
  ...checkPaths(provider),
  ...checkRequest(provider),
];
