/** The dashscope-like vendor's error body: `{code, message, request_id}`. */
import { randomUUID } from "node:crypto";
import type { Json } from "../json.ts";
import type { Failure } from "../refusal.ts";
import { Refusal } from "../refusal.ts";

const codes: Readonly<Record<number, string>> = {
  400: "InvalidParameter",
  401: "InvalidApiKey",
  403: "AccessDenied",
  404: "ModelNotFound",
  408: "RequestTimeOut",
  413: "BadRequest.TooLarge",
  429: "Throttling.RateQuota",
  503: "ModelServingError",
};

export function dashscopeError(status: number, { message, code }: Failure): Json {
  return {
    code: code ?? codes[status] ?? (status >= 500 ? "InternalError" : "InvalidParameter"),
    message,
    request_id: randomUUID(),
  };
}

export const invalidParameter = (message: string): Refusal => new Refusal(400, { message });
