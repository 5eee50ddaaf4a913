/** Gives reads a timeout: a network that loses packets must not leave a page waiting for minutes. */
import { ApiError } from "./errors.ts";

/** A database statement is limited to 30 seconds: a working gateway has answered by then. */
const limitMs = 60_000;

const timeoutCode = "no_answer";

/** True if this is a read that timed out. */
export const isTimeout = ({ code }: ApiError): boolean => code === timeoutCode;

/** `fetch` with a timeout for reads. Changes get none: the outcome of an aborted change would be unknown. */
export function fetchWithTimeout(request: Request): Promise<Response> {
  if (request.method !== "GET") return fetch(request);
  const words = `The gateway did not answer within ${limitMs / 1000} seconds.`;
  const stop = new AbortController();
  // The timer keeps running when the response starts: its body may stall.
  setTimeout(() => stop.abort(new ApiError(0, words, { code: timeoutCode })), limitMs);
  return fetch(request, { signal: AbortSignal.any([request.signal, stop.signal]) });
}
