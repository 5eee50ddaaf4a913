/** An answer that looked good and is not. */

/** Thrown by whoever reads the answer: the next provider may do better. */
export class BadAnswerError extends Error {
  override name = "BadAnswerError";
  /** What is wrong with it, fit for the caller. The message adds the vendor's own words, which are for the operator. */
  readonly reason: string;

  constructor(
    reason: string,
    { reported, cause }: { readonly reported?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(reported === undefined ? reason : `${reason}: ${reported}`, { cause });
    this.reason = reason;
  }
}
