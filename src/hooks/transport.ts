/** The interface to ask a hook, wherever it runs. */

export interface HookRequest {
  /** The id of the call. */
  readonly id: string;
  /** JSON. */
  readonly text: string;
  readonly timeoutMs: number;
  /** The longest answer that is read, in bytes. */
  readonly answerBytesMax: number;
}

export interface HookTransport {
  /** The hook's raw answer. @throws HookFailedError if none came in time, or it is too long */
  ask(question: HookRequest): Promise<Uint8Array>;
  close(): Promise<void>;
}
