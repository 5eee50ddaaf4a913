/**
 * The errors for a caller whose key or workspace may not call. `authenticate` (tenancy) reports them, and so does the ledger, which
 * decides last: it reads the key in the transaction that reserves. AUTH-03 to AUTH-05.
 */
import { GatewayError, type ErrorCode } from "./errors.ts";

/** By the refusals of `ledger_admit`. */
const refusals = {
  key_unknown: ["invalid_api_key", "The API key is unknown."],
  key_disabled: ["api_key_disabled", "The API key is disabled."],
  key_revoked: ["api_key_revoked", "The API key was revoked."],
  key_expired: ["api_key_expired", "The API key has expired."],
  workspace_disabled: ["workspace_disabled", "The workspace of the API key is disabled."],
} as const satisfies Readonly<Record<string, readonly [ErrorCode, string]>>;

export type KeyRefusal = keyof typeof refusals;

export function keyError(refusal: KeyRefusal): GatewayError {
  const [code, message] = refusals[refusal];
  return new GatewayError(code, message);
}
