/** The calling key of an HTTP request, from wherever the caller's SDK put it. AUTH rows; docs/decisions.md "Key carriers". */
import { readCredential, type CredentialCarriers } from "../../tenancy/index.ts";
import type { Routed } from "../exchange.ts";
import { queryOf } from "../path.ts";

function carriers(request: Routed): CredentialCarriers {
  const { headers } = request.raw;
  const carried: CredentialCarriers = {
    authorization: headers.authorization,
    xApiKey: headers["x-api-key"],
    xGoogApiKey: headers["x-goog-api-key"],
    apiKey: headers["api-key"],
  };
  // The query is never logged.
  if (request.match.route.keyInQuery !== true) return carried;
  return { ...carried, queryKey: queryOf(request)["key"] };
}

/** The key a request carries. @throws GatewayError `missing_api_key`, `invalid_api_key`. */
export function credentialOf(request: Routed): string {
  return readCredential(carriers(request));
}

/** Whether a request carries any credential, for the one endpoint that also answers without (AUTH-06). */
export function hasCredential(request: Routed): boolean {
  return Object.values(carriers(request)).some((value) => value !== undefined && value !== "");
}
