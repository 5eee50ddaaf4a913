/** A limit on how long something may take. */

/**
 * What `work` comes to, if that is within `ms`. Else `late` is called once, which may end the work, and makes the error.
 * @throws what `late` makes; what `work` rejects with
 */
export async function inTime<Result>(
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

/** When work has no more time: so many milliseconds after an abort. */
export interface Stop {
  readonly signal: AbortSignal;
  readonly ms: number;
}

/** What `work` comes to, if that is in time. @throws what `late` makes; what `work` rejects with */
export async function beforeStop<Result>(
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
