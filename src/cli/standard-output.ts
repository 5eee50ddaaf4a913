/**
 * What becomes of a command whose output cannot be written. Without this a full disk cuts a file and the command ends with 0, for
 * the console passes such errors over; and a reader that leaves early (`| head`) ends it with a stack.
 */

let isTold = false;

function tell(error: Error & { readonly code?: string }): void {
  // Whoever read it has what they wanted.
  if (error.code === "EPIPE" || isTold) return;
  isTold = true;
  console.error(`tollgate: the output could not be written (${error.code ?? error.message})`);
  process.exitCode = 1;
}

/** From now on a failure of standard output is told in a line, and ends the command with 1. Of commands that end, not of a gateway. */
export function watchOutput(): void {
  if (!process.stdout.listeners("error").includes(tell)) process.stdout.on("error", tell);
}

/** Writes text as it comes, as fast as it is taken. @returns when all is written, or nobody reads any more */
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
