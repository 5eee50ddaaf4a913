/** States a belief of the programmer. A failure is our bug, never the caller's mistake. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}
