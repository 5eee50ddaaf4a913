/** The error of a worker that did not start. In its own module, because commands explain it. */

/** A worker did not start; the message is the one that a command would print. */
export class WorkerFailedError extends Error {
  override name = "WorkerFailedError";
  readonly exitCode: 1 | 2;

  constructor(text: string, exitCode: 1 | 2) {
    super(text);
    this.exitCode = exitCode;
  }
}
