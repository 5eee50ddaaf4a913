/** The google-like vendor's error body. */
import type { Json } from "../json.ts";
import type { Failure } from "../refusal.ts";

const statuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  500: "INTERNAL",
  501: "UNIMPLEMENTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const detail = (type: string, fields: Json): Json => ({
  "@type": `type.googleapis.com/google.rpc.${type}`,
  ...fields,
});

/** `type` replaces the status word; `code` becomes the reason, `param` the field that was wrong. */
export function googleError(code: number, failure: Failure): Json {
  const { message, type, code: reason, param, retryAfterSeconds } = failure;
  const details: Json[] = [];
  if (reason !== undefined) {
    details.push(detail("ErrorInfo", { reason, domain: "googleapis.com", metadata: {} }));
  }
  if (param !== undefined) {
    const fieldViolations = [{ field: param, description: message }];
    details.push(detail("BadRequest", { fieldViolations }));
  }
  if (retryAfterSeconds !== undefined) {
    details.push(detail("RetryInfo", { retryDelay: `${retryAfterSeconds}s` }));
  }
  const status = type ?? statuses[code] ?? (code >= 500 ? "INTERNAL" : "INVALID_ARGUMENT");
  return { error: { code, message, status, ...(details.length === 0 ? {} : { details }) } };
}
