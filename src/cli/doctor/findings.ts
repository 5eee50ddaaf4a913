/** The result of a check of `tollgate doctor`. */

export interface Finding {
  /** The checked object, such as `database` or `provider openai`. */
  readonly check: string;
  readonly status: "ok" | "warning" | "failed";
  /** The result. Never contains a secret. */
  readonly message: string;
  /** The fix; absent if nothing needs to be done. */
  readonly fix?: string | undefined;
}

export const ok = (check: string, message: string): Finding => ({ check, status: "ok", message });
export const warning = (check: string, message: string, fix: string): Finding => ({
  check,
  status: "warning",
  message,
  fix,
});
export const failed = (check: string, message: string, fix: string): Finding => ({
  check,
  status: "failed",
  message,
  fix,
});
