/** Classifies database failures that may pass by themselves. PostgreSQL manual, appendix A "Error Codes". */
import { isShortage } from "../base/shortage.ts";

/**
 * Classes and codes of a server that stops, starts, is short of something for a moment, or is read-only now. 25006 is a standby before its
 * promotion, or a hosting provider that protects a full disk.
 */
const serverCodes = /^(?:08...|53...|57P0[1-5]|57014|58030|25006|25P0[34]|40001|40P01|55P03)$/;

/** A conflict of serialization, and a deadlock. */
const rollbackCodes = /^(?:40001|40P01)$/;

/** The server refuses the login for now: the password or role was changed, or the database is being replaced. */
const doorCodes = /^(?:28000|28P01|3D000)$/;

/** The role has no right to a table for now: a grant, an owner or the role itself was changed. */
const rightsCodes = /^42501$/;
/** Tables or functions are missing for now: the search_path was changed, a dump is being restored, or the name leads to another server. */
const missingCodes = /^(?:42P01|42883|3F000)$/;

/** A statement was prepared in another session: a pooler was switched to transaction mode. */
const pooledCodes = /^(?:26000|42P05)$/;

/** Failures of the network to the server, and of its certificate. */
const networkCodes =
  /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTCONN|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN)$/;
const certificateCodes =
  /^(?:CERT_[A-Z_]+|ERR_TLS_CERT_ALTNAME_INVALID|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE))$/;

const transientCodes = [
  serverCodes,
  doorCodes,
  rightsCodes,
  missingCodes,
  pooledCodes,
  networkCodes,
  certificateCodes,
];
const transientMessages =
  /Connection terminated|timeout exceeded when trying to connect|not queryable|Query read timeout|Client was closed|starting up|shutting down/;

/** Returns the code of a failure: PostgreSQL's (five characters), or the system's. */
export const codeOf = (error: unknown): unknown =>
  (error as { readonly code?: unknown } | undefined)?.code;

/** True if others locked a row for longer than `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === "55P03";

/** True if the server rolled the transaction back because of others beside it: nothing of it was written, and it may be repeated. */
export const isRolledBack = (error: unknown): boolean => hasCode(error, rollbackCodes);

/** True if the server is read-only: another server may have taken its place and its name. */
const isReadOnly = (error: unknown): boolean => codeOf(error) === "25006";

/** Fields of an error that the server, or a pooler before it, wrote. */
type Written = Error & { readonly severity?: unknown; readonly routine?: unknown };

/** True if the server or a pooler ended the connection. Poolers give codes of their own: Supavisor XX000, PgCat 58000. */
const isEnd = (error: Written): boolean => /^(?:FATAL|PANIC)$/.test(String(error.severity));

/** Codes of internal errors, which poolers give for everything. */
const internalCodes = /^(?:XX|58)/;

/**
 * True if a pooler or proxy before the server wrote the error: PostgreSQL names the routine in each of its own. Neon's proxy writes "ERROR
 * XX000" while its server is starting.
 */
const isOfPooler = (error: Written): boolean =>
  error.severity !== undefined && error.routine === undefined && hasCode(error, internalCodes);

/** True if a migration changed the columns of a statement that was prepared before. The message is in the server's language. */
const isStalePlan = (error: unknown): boolean =>
  codeOf(error) === "0A000" && (error as Written).routine === "RevalidateCachedQuery";

const hasCode = (error: unknown, codes: RegExp): boolean => codes.test(String(codeOf(error)));

/** True if the statement found no such table or function. */
export const isMissing = (error: unknown): boolean => hasCode(error, missingCodes);

/** True if this session does not reach the tables, for lack of rights or by its search_path. Another session may. */
const isKeptFromTables = (error: unknown): boolean =>
  isMissing(error) || hasCode(error, rightsCodes);

/** True if the error belongs to this session, so that the next statement needs another one. */
export const isOfSession = (error: unknown): boolean =>
  isReadOnly(error) || isKeptFromTables(error) || hasCode(error, pooledCodes) || isStalePlan(error);

/** True if the server is away. False also for a server that answers, and keeps this session from something. */
export const isAway = (error: unknown): boolean => isTransient(error) && !isKeptFromTables(error);

/**
 * True if the same statement may succeed later: the connection failed, or the server is restarting.
 * The statement may have taken effect, so repeat only what is safe to repeat.
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isShortage(error) || isEnd(error) || isOfPooler(error) || isStalePlan(error)) return true;
  const code = codeOf(error);
  if (typeof code === "string" && transientCodes.some((codes) => codes.test(code))) return true;
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  return transientMessages.test(error.message);
}
