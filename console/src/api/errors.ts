/** The error responses of the API. */

interface ErrorBody {
  readonly error?: {
    readonly message?: unknown;
    readonly code?: unknown;
    readonly param?: unknown;
  };
  readonly message?: unknown;
}

/** A refusal by the API, or an unreachable gateway (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  /** When a retry is allowed, if the response says so. */
  readonly retryAt: Date | undefined;

  constructor(status: number, message: string, more: Partial<ApiError> = {}) {
    super(message);
    this.status = status;
    this.code = more.code ?? "";
    this.param = more.param;
    this.requestId = more.requestId;
    this.retryAt = more.retryAt;
  }
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** Converts an error response to an ApiError. */
export async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  const seconds = Number(response.headers.get("retry-after"));
  const message = text(body.error?.message) ?? text(body.message);
  return new ApiError(response.status, message ?? `The gateway answered ${response.status}.`, {
    code: text(body.error?.code) ?? "",
    param: text(body.error?.param),
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryAt: seconds > 0 ? new Date(Date.now() + seconds * 1000) : undefined,
  });
}

/** Converts any thrown value to an ApiError. */
export const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(0, "The gateway cannot be reached.");

/**
 * True if the page keeps showing earlier data: an unreachable or failing gateway must not remove a form that the reader is typing in. A
 * refusal removes it.
 */
export function keepsShownData(error: unknown): boolean {
  if (error == null) return true;
  const { status } = asApiError(error);
  return status === 0 || status >= 500;
}

/** True if the request itself was refused: not if the gateway is unreachable, failing, or asks to wait. */
export function isFinal(error: unknown): boolean {
  const { status } = asApiError(error);
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** True if the object of a call does not exist, or the reader may not see it. */
export const isMissing = (error: unknown): boolean =>
  error != null && asApiError(error).status === 404;

const isAbout = (name: string, { param }: ApiError): boolean =>
  param !== undefined &&
  (param === name || param.startsWith(`${name}.`) || param.startsWith(`${name}[`));

/** The refusal message for a form field, by its API name: for the field itself or a value inside it. */
export function errorOfField(error: unknown, name: string): string | undefined {
  if (error == null) return undefined;
  const refusal = asApiError(error);
  return isAbout(name, refusal) ? refusal.message : undefined;
}

/** The refusal, if it concerns none of the fields that show their own; null otherwise. */
export function errorOutsideFields(error: unknown, names: readonly string[]): ApiError | null {
  if (error == null) return null;
  const refusal = asApiError(error);
  return names.some((name) => isAbout(name, refusal)) ? null : refusal;
}
