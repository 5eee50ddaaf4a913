/** The secrets of a configuration: which fields hold them, how they are shown, and that a shown one is not taken for one. */
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

/** Headers and parameters of addresses that hold secrets, by what they are called. */
const secretName =
  /(?:^|[-_])(?:key|token|secret|auth|authorization|password|cookie|signature|sig)$|apikey$/i;

/** The same in `camelCase`. */
const innerSecretName =
  /[a-z\d](?:Key|Token|Secret|Auth|Authorization|Password|Cookie|Signature|Sig)$/;

/** Whether the values of a key are secrets, wherever in the file it stands. */
export const isSecretKey = (key: string): boolean =>
  secretKeys.has(key) || secretName.test(key) || innerSecretName.test(key);

/** What the value of a key is called: the headers of a collector hold its key, and each vendor has another name for that one. */
export const calledIn = (group: string | number | undefined, key: string): string =>
  group === "otlp_headers" ? group : key;

export const hidden = "****";
const shownMin = 12;

/** A secret's last four characters, where that leaves enough unknown. */
export function mask(secret: string): string {
  if (secret === "") return "none";
  return secret.length < shownMin ? hidden : `${hidden}${secret.slice(-4)}`;
}

/** The same of a secret that may be absent. */
export const masked = (secret: string | undefined): string | undefined =>
  secret === undefined ? undefined : mask(secret);

/** Whether a text is what {@link mask} makes of a secret. */
const isMasked = (text: string): boolean => text.startsWith(hidden);

/** What stands before a secret in a header, and is none itself. */
const scheme = /^\s*(?:bearer|basic|token|api-key)\s/i;

/**
 * A secret's placeholder as it may be shown, in disguise; undefined where the file holds a part of the secret itself. A
 * default is left out: it would be the secret.
 */
export function shownPlaceholder(source: unknown): string | undefined {
  if (typeof source !== "string" || !isDisguised(source)) return undefined;
  const { rest, bare } = placeholdersOf(source);
  return /[A-Za-z0-9]/.test(rest.replace(scheme, "")) ? undefined : bare;
}

/** Every secret of a file that is a masked one, as `config print` shows it. */
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
    if (!isSecretKey(calledIn(path.at(-1), key)) || typeof each !== "string")
      return checkSecrets(each, at);
    if (!isMasked(each)) return [];
    const fix = "write the key itself, best as ${VARIABLE}";
    return [{ path: at, message: "is a masked key, as `config print` shows it", fix }];
  });
}
