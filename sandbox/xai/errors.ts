/** The xai-like vendor's error bodies. It has three kinds, and a client must read them all. */
import type { Json } from "../json.ts";
import type { Failure } from "../refusal.ts";
import { Refusal } from "../refusal.ts";

/** A body that is no request of this kind: plain words. A wrong value or key: a code and words. All else: an object. */
export function xaiError(status: number, failure: Failure): Json {
  const { message, code, type, param } = failure;
  if (status === 422) return { error: message };
  if (status < 404 && status >= 400) return { code: code ?? codes[status] ?? "", error: message };
  const usual = status >= 500 ? "server_error" : "invalid_request_error";
  return {
    error: { message, type: type ?? usual, param: param ?? null, code: code ?? null },
  };
}

const codes: Readonly<Record<number, string>> = {
  400: "Client specified an invalid argument",
  401: "Unauthenticated",
  403: "The caller does not have permission to execute the specified operation",
};

export const notDeserializable = (message: string): Refusal =>
  new Refusal(422, {
    message: `Failed to deserialize the JSON body into the target type: ${message}`,
  });

export const invalidArgument = (message: string): Refusal => new Refusal(400, { message });
