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
