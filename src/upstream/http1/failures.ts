/** The errors of an exchange whose connection failed. */
import { lateConnection, lateRefusal } from "../dial/faults.ts";
import { connectError, ExchangeError, faultError } from "../exchange-error.ts";
import { MalformedAnswerError } from "./head.ts";

/** The state of a connection. `reserved`: it was idle and will carry an exchange, after unread bytes are read. */
export type State = "connecting" | "idle" | "reserved" | "head" | "body" | "closed";

export const closedEarly = (): ExchangeError =>
  new ExchangeError("broken", "the upstream closed the connection before its answer was complete");

/** Returns the error of an established connection that broke. */
export function brokenBy(error: Error, host: string): ExchangeError {
  if (error instanceof ExchangeError) return error;
  if (error instanceof MalformedAnswerError)
    return new ExchangeError("unreadable", `the upstream sent ${error.message}`, error);
  const refusal = lateRefusal(error, host);
  if (refusal) return faultError(refusal);
  const code = "code" in error ? String(error.code) : error.name;
  return new ExchangeError("broken", `the connection to the upstream broke (${code})`, error);
}

/** Returns the error of a deadline that passed in this state. */
export function tooSlow(state: State, host: string): ExchangeError {
  if (state === "connecting") return connectError(lateConnection(), host);
  if (state === "head")
    return new ExchangeError("first_byte_timeout", "the upstream sent no answer in time");
  return new ExchangeError("idle_timeout", "the upstream fell silent in the middle of its answer");
}
