/** The calling key of an HTTP request, from wherever the caller's SDK put it. AUTH rows; docs/decisions.md "Key carriers". */
import { readCredential, type CredentialCarriers } from "../../tenancy/index.ts";
import { queryOf, type RawRequest } from "../path.ts";

function carriers(request: RawRequest): CredentialCarriers {
  const { headers } = request.raw;
  const carried: CredentialCarriers = {
    authorization: headers.authorization,
    xApiKey: headers["x-api-key"],
    xGoogApiKey: headers["x-goog-api-key"],
    apiKey: headers["api-key"],
  };
  // `?key=` counts on /v1beta only, where vendor tools send it; the query is never logged.
  if (request.raw.url?.startsWith("/v1beta/") !== true) return carried;
  return { ...carried, queryKey: queryOf(request)["key"] };
}

/** The key a request carries. @throws GatewayError `missing_api_key`, `invalid_api_key`. */
export function credentialOf(request: RawRequest): string {
  return readCredential(carriers(request));
}

/** Whether a request carries any credential, for the one endpoint that also answers without (AUTH-06). */
export function hasCredential(request: RawRequest): boolean {
  return Object.values(carriers(request)).some((value) => value !== undefined && value !== "");
}
