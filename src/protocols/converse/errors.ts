/** Errors of Bedrock: error bodies, and exceptions in a stream. */
import { isObject } from "../../base/json.ts";
import type { WireError } from "../codec.ts";
import { decodeErrorObject } from "../error-object.ts";

/** Decodes an upstream's error body, `{message, __type}` in any case and with any namespace. Never throws. */
export function decodeError(status: number, body: unknown): WireError {
  const outer = isObject(body) ? body : {};
  const { __type: type, Message: message } = outer;
  const base = decodeErrorObject(
    status,
    typeof message === "string" && outer["message"] === undefined ? { ...outer, message } : body,
  );
  if (typeof type !== "string" || type === "") return base;
  return { ...base, type: type.replace(/^.*#/, "") };
}
