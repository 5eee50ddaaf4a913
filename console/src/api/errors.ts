/** What the API refuses, as it says it. */

interface ErrorBody {
  readonly error?: {
    readonly message?: unknown;
    readonly code?: unknown;
    readonly param?: unknown;
  };
  readonly message?: unknown;
}

/** A refusal of the API, or a network that is gone (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  /** When it may be tried again, where the answer says so. */
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

/** The refusal of an answer. */
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

/** Anything that was thrown, as a refusal. */
export const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(0, "The gateway cannot be reached.");
