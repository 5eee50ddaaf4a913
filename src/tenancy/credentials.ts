/**
 * Finds the API key of a request, whichever header the SDK uses. docs/clients.md.
 * Requirements: AUTH; docs/decisions.md "Key carriers".
 */
import { GatewayError } from "../base/errors.ts";

type HeaderValue = string | readonly string[] | undefined;

/** Every place that may carry a key. The caller fills `queryKey` (`?key=`) on `/v1beta` only, and never logs it. */
export interface CredentialCarriers {
  readonly authorization?: HeaderValue;
  readonly xApiKey?: HeaderValue;
  readonly xGoogApiKey?: HeaderValue;
  readonly apiKey?: HeaderValue;
  readonly queryKey?: HeaderValue;
}

const keyLengthMax = 512;
const visible = /^[\x21-\x7e]+$/;
const plainPrefix = "Bearer ";
const bearer = /^bearer(?:[ \t]+(.*))?$/is;

function values(carrier: HeaderValue): readonly string[] {
  if (carrier === undefined) return [];
  return typeof carrier === "string" ? [carrier] : carrier;
}

/** The token of `Bearer <token>`; undefined for another scheme, such as Basic credentials of a proxy in front. */
function bearerToken(header: string): string | undefined {
  if (header.trim() === "") return "";
  const match = bearer.exec(header.trim());
  return match ? (match[1] ?? "") : undefined;
}

/**
 * The one key of a request, as sent; its format is not checked here. A header without a value counts as absent: SDKs with an empty
 * key send that. The same key in two places is accepted.
 * @throws GatewayError `missing_api_key`; `invalid_api_key` for two different keys, control characters, spaces, over-long values, or
 * an Authorization header of another scheme without a key beside it. The message never repeats the sent text.
 */
export function readCredential(carriers: CredentialCarriers): string {
  return plainBearer(carriers) ?? readAny(carriers);
}

/** Fast path for the usual request: one `Bearer` Authorization header and no other carrier. */
function plainBearer(carriers: CredentialCarriers): string | undefined {
  const { authorization, xApiKey, xGoogApiKey, apiKey, queryKey } = carriers;
  if (typeof authorization !== "string") return undefined;
  if ((xApiKey ?? xGoogApiKey ?? apiKey ?? queryKey) !== undefined) return undefined;
  const key = authorization.slice(plainPrefix.length);
  const plain = authorization.startsWith(plainPrefix) && visible.test(key);
  return plain && key.length <= keyLengthMax ? key : undefined;
}

function readAny(carriers: CredentialCarriers): string {
  const tokens = values(carriers.authorization).map(bearerToken);
  const found = [
    ...tokens.filter((token) => token !== undefined),
    ...values(carriers.xApiKey),
    ...values(carriers.xGoogApiKey),
    ...values(carriers.apiKey),
    ...values(carriers.queryKey),
  ];
  const keys = new Set(found.map((value) => value.trim()).filter((value) => value !== ""));
  const [key] = keys;
  if (key === undefined) {
    if (tokens.includes(undefined)) {
      throw invalid("The Authorization header must be `Bearer <API_KEY>`.");
    }
    throw new GatewayError(
      "missing_api_key",
      "No API key was sent. Send it as `Authorization: Bearer <API_KEY>`, `x-api-key` or `x-goog-api-key`.",
    );
  }
  if (keys.size > 1) throw invalid("Two different API keys were sent in one request.");
  if (key.length > keyLengthMax || !visible.test(key)) {
    throw invalid(
      "The API key has characters that no key has, such as a space or a line break: send the one that this gateway made, which begins with gw_.",
    );
  }
  return key;
}

function invalid(message: string): GatewayError {
  return new GatewayError("invalid_api_key", message);
}
