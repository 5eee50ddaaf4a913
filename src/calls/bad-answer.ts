/** An answer that looked good and is not. Thrown by its reader: the next provider may do better. */
export class BadAnswerError extends Error {
  override name = "BadAnswerError";
}
