/** Why a worker did not come up; of its own, because commands explain it. */

/** A worker that did not come up, and why, as a command would say it. */
export class WorkerFailedError extends Error {
  override name = "WorkerFailedError";
  readonly exitCode: 1 | 2;

  constructor(text: string, exitCode: 1 | 2) {
    super(text);
    this.exitCode = exitCode;
  }
}
