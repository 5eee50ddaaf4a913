/** Which database failures may pass by themselves. PostgreSQL manual, appendix A "Error Codes". */
import { isShortage } from "../base/shortage.ts";

/** Classes and codes of a server that is going, coming, or short of something for a moment. */
const transientCodes =
  /^(?:08...|53...|57P0[1-5]|57014|25P0[34]|40001|40P01|55P03|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)$/;
const transientMessages =
  /Connection terminated|timeout exceeded when trying to connect|not queryable|Query read timeout|Client was closed|starting up|shutting down/;

/** The code of a failure: of PostgreSQL (five characters), or of the system. */
export const codeOf = (error: unknown): unknown =>
  (error as { readonly code?: unknown } | undefined)?.code;

/** Others have locked a row for longer than `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === "55P03";

/**
 * True where the same statement may succeed on a later try: the connection failed or the server is restarting.
 * Whether it took effect is then unknown, so only what is safe to repeat may be repeated.
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isShortage(error)) return true;
  const code = codeOf(error);
  if (typeof code === "string" && transientCodes.test(code)) return true;
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  return transientMessages.test(error.message);
}
