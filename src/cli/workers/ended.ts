/** Advice on why a worker's process ended, and how to fix it. docs/troubleshooting.md. */

const fixes: readonly (readonly [how: RegExp, fix: string])[] = [
  [
    /^SIGKILL$/,
    "somebody killed it, most often the system for lack of memory: look into `dmesg` and memory.events of its container, then give it more, run fewer workers or lower limits.bodies_under_way_mb",
  ],
  [
    /^(?:SIGABRT|SIGTRAP|code 134)$/,
    "where `JavaScript heap out of memory` stands before this line, raise it by NODE_OPTIONS=--max-old-space-size=<MB>, or lower limits.bodies_under_way_mb",
  ],
  [
    /^SIG(?:SEGV|BUS|ILL|FPE)$/,
    "a fault of Node, of a native module or of the machine: keep what stands before this line",
  ],
];

/** `how`: the signal, or `code` and the exit code. Empty if the log lines before already explain the end. */
export function adviceOnEnd(how: string): { readonly fix?: string } {
  const fix = fixes.find(([pattern]) => pattern.test(how))?.[1];
  return fix === undefined ? {} : { fix };
}
