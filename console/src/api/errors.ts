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

/** Whether what was read before is shown all the same: a gateway that cannot be reached, or is in trouble, takes no form from under who types in it. A refusal does. */
export function stillStands(error: unknown): boolean {
  if (error == null) return true;
  const { status } = asApiError(error);
  return status === 0 || status >= 500;
}

/** Whether a refusal is about what was asked for: not that the gateway cannot be reached, is in trouble or asks to wait. */
export function isFinal(error: unknown): boolean {
  const { status } = asApiError(error);
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

const isAbout = (name: string, { param }: ApiError): boolean =>
  param !== undefined &&
  (param === name || param.startsWith(`${name}.`) || param.startsWith(`${name}[`));

/** What was refused of a form's field, by its name in the API: the field itself, or what is in it. */
export function refusalOf(error: unknown, name: string): string | undefined {
  if (error == null) return undefined;
  const refusal = asApiError(error);
  return isAbout(name, refusal) ? refusal.message : undefined;
}

/** The refusal, where it is about none of the fields that show theirs; null otherwise. */
export function refusalBeside(error: unknown, names: readonly string[]): ApiError | null {
  if (error == null) return null;
  const refusal = asApiError(error);
  return names.some((name) => isAbout(name, refusal)) ? null : refusal;
}
