/** Shortages of this machine: open files, socket buffers, local ports. They say nothing about the server that was called. */

const codes: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE", "ENOBUFS", "EADDRNOTAVAIL"]);
const causesMax = 8;

/**
 * True if an operation failed because this process or machine ran short, also if that is only the cause of the error. An error for several
 * addresses counts if all failed so: otherwise one of them answered and refused.
 */
export function isShortage(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < causesMax; depth += 1) {
    if (one instanceof AggregateError && one.errors.length > 0) return one.errors.every(isShortage);
    if ("code" in one && codes.has(one.code)) return true;
    one = one.cause;
  }
  return false;
}
