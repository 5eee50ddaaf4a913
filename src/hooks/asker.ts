/** How a hook is asked, wherever it runs. */

export interface Question {
  /** The event's id: that of its call. */
  readonly id: string;
  /** JSON. */
  readonly text: string;
  readonly timeoutMs: number;
  /** The longest answer that is read, in bytes. */
  readonly answerBytesMax: number;
}

export interface Asker {
  /** The hook's answer as it gave it. @throws HookFailedError where none came in time, or one that is too long */
  ask(question: Question): Promise<Uint8Array>;
  close(): Promise<void>;
}
