/** Error bodies of the two alias paths, in their vendors' shapes. Requirements: ERR, ALIAS-11, ARK-12. */
import type { GatewayError } from "../../base/errors.ts";

const dashscopeCodes: Readonly<Record<number, string>> = {
  401: "InvalidApiKey",
  402: "Arrearage",
  403: "AccessDenied",
  404: "NotFound",
  405: "MethodNotAllowed",
  408: "RequestTimeOut",
  409: "UnsupportedOperation",
  413: "BadRequest.TooLarge",
  429: "Throttling.RateQuota",
  500: "InternalError",
  502: "InternalError",
  503: "ServiceUnavailable",
  504: "InternalError.Timeout",
};

/** DashScope's `{code, message, request_id}`. */
function dashscopeError(error: GatewayError, requestId: string): object {
  const isTask = error.code === "task_not_found";
  const code = isTask ? "TaskNotFound" : (dashscopeCodes[error.status] ?? "InvalidParameter");
  return { code, message: error.message, request_id: requestId };
}

/** Ark's `type`, and its default `code`, by HTTP status. */
const arkCodes: Readonly<Record<number, readonly [type: string, code: string]>> = {
  401: ["Unauthorized", "AuthenticationError"],
  402: ["Forbidden", "AccountOverdueError"],
  403: ["Forbidden", "AccessDenied"],
  404: ["NotFound", "ResourceNotFound"],
  405: ["MethodNotAllowed", "MethodNotAllowed"],
  408: ["RequestTimeout", "RequestTimeout"],
  409: ["Conflict", "OperationDenied"],
  413: ["RequestEntityTooLarge", "RequestEntityTooLarge"],
  429: ["TooManyRequests", "RateLimitExceeded"],
  500: ["InternalServerError", "InternalServiceError"],
  502: ["BadGateway", "InternalServiceError"],
  503: ["ServiceUnavailable", "ServerOverloaded"],
  504: ["GatewayTimeout", "InternalServiceError"],
};

/** Ark's `{error: {code, message, param, type}}`; its messages end with the request's id. */
function arkError(error: GatewayError, requestId: string): object {
  const [type, byStatus] = arkCodes[error.status] ?? ["BadRequest", "InvalidParameter"];
  const code = arkOwnCodes[error.code] ?? byStatus;
  const message = `${error.message} Request id: ${requestId}`;
  return { error: { code, message, param: error.param ?? "", type } };
}

const arkOwnCodes: Readonly<Partial<Record<GatewayError["code"], string>>> = {
  missing_required_parameter: "MissingParameter",
  model_not_found: "InvalidEndpointOrModel.NotFound",
};

/** Encodes an error in the shape of an alias path's vendor. */
export function encodeAliasError(
  style: "dashscope" | "ark",
  error: GatewayError,
  requestId: string,
): object {
  return style === "ark" ? arkError(error, requestId) : dashscopeError(error, requestId);
}
