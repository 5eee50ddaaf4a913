/** The openai-like vendor's error body: `{error: {message, type, param, code}}`, with the types and codes it uses. */
import type { Json } from "../json.ts";
import type { Failure } from "../vendor.ts";

const types: Readonly<Record<number, string>> = {
  403: "permission_error",
  409: "conflict",
  429: "rate_limit_error",
};

export function openaiError(status: number, failure: Failure): Json {
  const usual = types[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");
  return {
    error: {
      message: failure.message,
      type: failure.type ?? usual,
      param: failure.param ?? null,
      code: failure.code ?? (status === 429 ? "rate_limit_exceeded" : null),
    },
  };
}
