/** The secrets of a configuration: the fields that hold them, how they are masked, and a check that no masked one is used as a secret. */
import { isObject } from "../base/json.ts";
import { isDisguised, placeholdersOf } from "./environment.ts";
import type { Finding, Path } from "./mistakes.ts";

const secretKeys: ReadonlySet<string> = new Set([
  "api_key",
  "secret_access_key",
  "client_secret",
  "session_token",
  "service_account_key",
  "proxy",
  "otlp_headers",
]);

/** Names of headers and URL parameters that hold secrets. */
const secretName =
  /(?:^|[-_])(?:key|token|secret|auth|authorization|password|cookie|signature|sig)$|apikey$/i;

/** The same names in `camelCase`. */
const innerSecretName =
  /[a-z\d](?:Key|Token|Secret|Auth|Authorization|Password|Cookie|Signature|Sig)$/;

/** True if the values of a key are secrets, anywhere in the file. */
export const isSecretKey = (key: string): boolean =>
  secretKeys.has(key) || secretName.test(key) || innerSecretName.test(key);

/**
 * The name that decides whether a value is a secret. All headers of a collector count as `otlp_headers`, because one holds its key
 * and each vendor names that one differently.
 */
export const secretKeyName = (group: string | number | undefined, key: string): string =>
  group === "otlp_headers" ? group : key;

export const hidden = "****";
const shownMin = 12;

/** Masks a secret but for its last four characters; a short one in full. */
export function mask(secret: string): string {
  if (secret === "") return "none";
  return secret.length < shownMin ? hidden : `${hidden}${secret.slice(-4)}`;
}

/** {@link mask} for a secret that may be absent. */
export const masked = (secret: string | undefined): string | undefined =>
  secret === undefined ? undefined : mask(secret);

/** True if a text is the output of {@link mask}. */
const isMasked = (text: string): boolean => text.startsWith(hidden);

/** The scheme before a secret in a header, which is not a secret. */
const scheme = /^\s*(?:bearer|basic|token|api-key)\s/i;

/**
 * A secret's placeholder as it may be shown, disguised; undefined if the file holds a part of the secret itself. The default is
 * left out, because it would be the secret.
 */
export function shownPlaceholder(source: unknown): string | undefined {
  if (typeof source !== "string" || !isDisguised(source)) return undefined;
  const { rest, bare } = placeholdersOf(source);
  return /[A-Za-z0-9]/.test(rest.replace(scheme, "")) ? undefined : bare;
}

/** Finds secrets in a file that are masked, as `config print` shows them. */
export function checkSecrets(value: unknown, path: Path = []): Finding[] {
  if (Array.isArray(value))
    return value.flatMap((each, index) => checkSecrets(each, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]): Finding[] => {
    const at = [...path, key];
    if (key === "proxy" && typeof each === "string" && each.includes(`//${hidden}@`)) {
      const fix = "write user:password in its place, best as ${VARIABLE}";
      return [{ path: at, message: "is masked, as `config print` shows it", fix }];
    }
    if (!isSecretKey(secretKeyName(path.at(-1), key)) || typeof each !== "string")
      return checkSecrets(each, at);
    if (!isMasked(each)) return [];
    const fix = "write the key itself, best as ${VARIABLE}";
    return [{ path: at, message: "is a masked key, as `config print` shows it", fix }];
  });
}
