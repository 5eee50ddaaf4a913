/** The anthropic-like vendor: key, errors and paths. Errors are `{type: "error", error: {type, message}, request_id}`. */
import type { IncomingHttpHeaders } from "node:http";
import { newId } from "../../src/base/ids.ts";
import { inputTokens } from "../conversation.ts";
import type { Json } from "../json.ts";
import type { Failure } from "../refusal.ts";
import type { Route, Vendor } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { bearer, isSandboxKey } from "../vendor.ts";
import { messages, question } from "./messages.ts";
import { countStrict } from "./messages-strict.ts";

const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

function anthropicError(status: number, failure: Failure): Json {
  const usual = types[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  return {
    type: "error",
    error: {
      type: failure.type ?? usual,
      message: failure.message,
      ...(failure.code === undefined ? {} : { details: { error_code: failure.code } }),
    },
    request_id: newId("req"),
  };
}

function authorise(headers: IncomingHttpHeaders): void {
  const key = headers["x-api-key"]?.toString() ?? bearer(headers);
  if (isSandboxKey(key)) return;
  throw new Refusal(401, {
    message: key ? "invalid x-api-key" : "x-api-key header is required",
  });
}

const countTokens: Route = {
  kind: "json",
  answer(call) {
    for (const check of countStrict) check(call);
    return { input_tokens: inputTokens(question(call)) };
  },
};

export const anthropic: Vendor = {
  name: "anthropic",
  authorise,
  errorBody: anthropicError,
  headers: () => ({ "request-id": newId("req") }),
  route(method, path) {
    if (method !== "POST") return undefined;
    if (path === "/v1/messages") return { kind: "text", endpoint: messages };
    return path === "/v1/messages/count_tokens" ? countTokens : undefined;
  },
};
