/** The error with which a command refuses to run. */

/** A mistake in what the operator typed or set: shown as one line, without a stack, exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}
