/** Calls the gateway as any caller does: with a key, without the reader's session. */
import { ApiError, asApiError, errorOf } from "../../api/errors.ts";
import { at, textAt } from "./json.ts";
import { dropTemporaryKey, temporaryKey } from "./temporary-keys.ts";

export interface Request {
  readonly keyId: string;
  readonly path: string;
  /** Absent for GET. */
  readonly body?: object | FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Sends a call. @throws ApiError what the gateway refuses; AbortError where the reader stopped it */
export async function callGateway({
  keyId,
  path,
  body,
  headers,
  signal,
}: Request): Promise<Response> {
  const form = body instanceof FormData;
  const response = await fetch(path, {
    ...(body !== undefined && { method: "POST", body: form ? body : JSON.stringify(body) }),
    headers: {
      authorization: `Bearer ${await temporaryKey(keyId)}`,
      ...(body !== undefined && !form && { "content-type": "application/json" }),
      ...headers,
    },
    credentials: "omit",
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (isStop(error)) throw error;
    throw asApiError(error);
  });
  if (response.ok) return response;
  if (response.status === 401) dropTemporaryKey(keyId);
  throw await refusalOf(response);
}

/** Reads a refusal in any protocol: two protocols have our code in the details. */
async function refusalOf(response: Response): Promise<ApiError> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  const error = await errorOf(response);
  if (error.code !== "") return error;
  const details = at(body, "error", "details");
  const code = textAt(details, "error_code") || textAt(details, 0, "reason").toLowerCase();
  const { status, message, param, requestId, retryAt } = error;
  return new ApiError(status, message, { code, param, requestId, retryAt });
}

/** True if the reader stopped the call. */
export const isStop = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "AbortError";

/** The id of a call's row in the log. */
export const idOf = (response: Response): string => response.headers.get("x-request-id") ?? "";
