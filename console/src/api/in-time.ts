/** Reads that end: a network that swallows what is sent leaves no page waiting for minutes. */
import { ApiError } from "./errors.ts";

/** The database gets 30 seconds for a statement: whatever answers has answered by then. */
const limitMs = 60_000;

const lateCode = "no_answer";

/** Whether this is a read that was ended for that. */
export const isLate = ({ code }: ApiError): boolean => code === lateCode;

/** `fetch`, which ends a read that takes too long. A change is not ended: nobody would know whether it was made. */
export function fetchInTime(request: Request): Promise<Response> {
  if (request.method !== "GET") return fetch(request);
  const words = `The gateway did not answer within ${limitMs / 1000} seconds.`;
  const stop = new AbortController();
  // It is not taken back when the answer begins: its body may stop on the way.
  setTimeout(() => stop.abort(new ApiError(0, words, { code: lateCode })), limitMs);
  return fetch(request, { signal: AbortSignal.any([request.signal, stop.signal]) });
}
