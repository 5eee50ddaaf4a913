/** The ark-like vendor's error body: `{error: {code, message, param, type}}`; the message ends with the request's id. */
import { newId } from "../../src/base/ids.ts";
import type { Json } from "../json.ts";
import type { Failure } from "../refusal.ts";
import { Refusal } from "../refusal.ts";

const usual: Readonly<Record<number, readonly [type: string, code: string]>> = {
  400: ["BadRequest", "InvalidParameter"],
  401: ["Unauthorized", "AuthenticationError"],
  403: ["Forbidden", "AccessDenied"],
  404: ["NotFound", "ResourceNotFound"],
  409: ["Conflict", "OperationConflict"],
  429: ["TooManyRequests", "RateLimitExceeded.EndpointRPMExceeded"],
};
const internal = ["InternalServerError", "InternalServiceError"] as const;

export function arkError(status: number, { message, code, type, param }: Failure): Json {
  const [usualType, usualCode] = usual[status] ?? internal;
  const worded = `${message} Request id: ${newId("02")}`;
  const told = { code: code ?? usualCode, message: worded, param: param ?? "" };
  return { error: { ...told, type: type ?? usualType } };
}

export function invalidParameter(param: string, fault: string): Refusal {
  const message = `The parameter \`${param}\` specified in the request is not valid: ${fault}.`;
  return new Refusal(400, { message, param });
}

export function missingParameter(param: string): Refusal {
  const message = `The request is missing the parameter \`${param}\`.`;
  return new Refusal(400, { message, param, code: "MissingParameter" });
}
