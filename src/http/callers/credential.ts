/** The API key of an HTTP request, in any place where the caller's SDK may put it. AUTH rows; docs/decisions.md "Key carriers". */
import { readCredential, type CredentialCarriers } from "../../tenancy/index.ts";
import type { RequestHead, Routed } from "../exchange.ts";
import { queryValuesOf } from "../path.ts";

type CarrierHeader = "authorization" | "api-key" | "x-api-key" | "x-goog-api-key";

/** Returns a header's values, one per line. Node keeps only the first Authorization, and joins the lines of other headers. */
function headerValues({ headers, headersDistinct }: RequestHead, name: CarrierHeader) {
  const lines = headersDistinct?.[name];
  return lines === undefined || lines.length < 2 ? headers[name] : lines;
}

function carriers(request: Routed): CredentialCarriers {
  const carried: CredentialCarriers = {
    authorization: headerValues(request.raw, "authorization"),
    xApiKey: headerValues(request.raw, "x-api-key"),
    xGoogApiKey: headerValues(request.raw, "x-goog-api-key"),
    apiKey: headerValues(request.raw, "api-key"),
  };
  // The query is never logged.
  if (request.match.route.keyInQuery !== true) return carried;
  return { ...carried, queryKey: queryValuesOf(request, "key") };
}

/** Returns the key that a request carries. @throws GatewayError `missing_api_key`, `invalid_api_key`. */
export function credentialOf(request: Routed): string {
  return readCredential(carriers(request));
}

/** True if a request carries any credential, for the one endpoint that also answers without (AUTH-06). */
export function hasCredential(request: Routed): boolean {
  const values: unknown[] = Object.values(carriers(request)).flat();
  return values.some((value) => value !== undefined && value !== "");
}
