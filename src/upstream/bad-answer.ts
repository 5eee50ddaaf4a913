/** An answer that looked good and is not. */

/** Thrown by whoever reads the answer: the next provider may do better. */
export class BadAnswerError extends Error {
  override name = "BadAnswerError";
  /** What is wrong with it, fit for the caller. The message adds the vendor's own words, which are for the operator. */
  readonly reason: string;
  /** What the model made of this one request: it says nothing of its provider. */
  readonly isModels: boolean;

  constructor(reason: string, { reported, cause, isModels = false }: Details = {}) {
    super(reported === undefined ? reason : `${reason}: ${reported}`, { cause });
    this.reason = reason;
    this.isModels = isModels;
  }
}

interface Details {
  readonly reported?: string | undefined;
  readonly cause?: unknown;
  readonly isModels?: boolean | undefined;
}
