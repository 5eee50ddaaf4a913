/** How a simulated vendor says no. */

/** What went wrong, before the vendor words it in its own shape. */
export interface Failure {
  readonly message: string;
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  readonly param?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** The vendor's no: an HTTP status and why. */
export class Refusal extends Error {
  readonly status: number;
  readonly failure: Failure;

  constructor(status: number, failure: Failure) {
    super(failure.message);
    this.name = "Refusal";
    this.status = status;
    this.failure = failure;
  }
}
