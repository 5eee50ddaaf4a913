/** Time limits for work. */

/**
 * Returns the result of `work` if it comes within `ms`. Otherwise calls `late` once, which may stop the work, and throws its error.
 * @throws what `late` makes; what `work` rejects with
 */
export async function withTimeout<Result>(
  work: Promise<Result>,
  ms: number,
  late: () => Error,
): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The time limit of work: `ms` milliseconds after `signal` aborts. */
export interface Stop {
  readonly signal: AbortSignal;
  readonly ms: number;
}

/** Returns the result of `work` if it comes in time. @throws what `late` makes; what `work` rejects with */
export async function withTimeoutAfterStop<Result>(
  work: Promise<Result>,
  { signal, ms }: Stop,
  late: () => Error,
): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => void (timer = setTimeout(() => reject(late()), ms));
  if (signal.aborted) begin();
  else signal.addEventListener("abort", begin, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", begin);
  }
}
