/** Which database failures may pass by themselves. PostgreSQL manual, appendix A "Error Codes". */
import { isShortage } from "../base/shortage.ts";

/**
 * Classes and codes of a server that is going, coming, short of something for a moment, or that may not be written now (25006:
 * a standby before its promotion, a provider that saves a full disk).
 */
const serverCodes = /^(?:08...|53...|57P0[1-5]|57014|58030|25006|25P0[34]|40001|40P01|55P03)$/;

/** A server that does not let us in now: the password or the role was changed, the database is being replaced. */
const doorCodes = /^(?:28000|28P01|3D000)$/;

/** The way to the server, and its certificate. */
const networkCodes =
  /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTCONN|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN)$/;
const certificateCodes =
  /^(?:CERT_[A-Z_]+|ERR_TLS_CERT_ALTNAME_INVALID|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE))$/;

const transientCodes = [serverCodes, doorCodes, networkCodes, certificateCodes];
const transientMessages =
  /Connection terminated|timeout exceeded when trying to connect|not queryable|Query read timeout|Client was closed|starting up|shutting down/;

/** The code of a failure: of PostgreSQL (five characters), or of the system. */
export const codeOf = (error: unknown): unknown =>
  (error as { readonly code?: unknown } | undefined)?.code;

/** Others have locked a row for longer than `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === "55P03";

/** The connection is to a server that may not be written: another one may have taken its place and its name. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === "25006";

/**
 * True where the same statement may succeed on a later try: the connection failed or the server is restarting.
 * Whether it took effect is then unknown, so only what is safe to repeat may be repeated.
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isShortage(error)) return true;
  const code = codeOf(error);
  if (typeof code === "string" && transientCodes.some((codes) => codes.test(code))) return true;
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  return transientMessages.test(error.message);
}
