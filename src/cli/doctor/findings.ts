/** What a check of `tollgate doctor` finds. */

export interface Finding {
  /** What was looked at, such as `database` or `provider openai`. */
  readonly check: string;
  readonly status: "ok" | "warning" | "failed";
  /** What was found. Never has a secret. */
  readonly message: string;
  /** What to do; absent where nothing is to be done. */
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
