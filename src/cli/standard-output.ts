/**
 * Handles output that cannot be written. By default, the console ignores such errors, so a full disk truncates a file and the command
 * ends with 0. A reader that leaves early (`| head`) ends the command with a stack trace.
 */

let isReported = false;

function reportOutputError(error: Error & { readonly code?: string }): void {
  // The reader has read all that it wanted.
  if (error.code === "EPIPE" || isReported) return;
  isReported = true;
  console.error(`tollgate: the output could not be written (${error.code ?? error.message})`);
  process.exitCode = 1;
}

/** From now on, a failure of standard output prints a line and ends the command with 1. Not for a running gateway. */
export function watchOutput(): void {
  if (!process.stdout.listeners("error").includes(reportOutputError))
    process.stdout.on("error", reportOutputError);
}

/** Writes chunks of text with backpressure. @returns when all is written, or the reader has gone */
export async function writeOut(parts: AsyncIterable<string>): Promise<void> {
  let isOver = false;
  const end = (): void => void (isOver = true);
  process.stdout.on("error", end);
  try {
    for await (const part of parts) {
      if (isOver) break;
      const written = Promise.withResolvers<void>();
      process.stdout.write(part, () => written.resolve());
      await written.promise;
    }
  } finally {
    process.stdout.off("error", end);
  }
}
