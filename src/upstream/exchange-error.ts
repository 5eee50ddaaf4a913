/** The reasons why an exchange with an upstream gave no answer, or not a whole one, for both clients. docs/architecture.md. */
import { isShortage } from "../base/shortage.ts";
import { asFault, FaultError, type FaultKind } from "./dial/faults.ts";

/** The reason why an exchange failed before or during its answer. */
export type ExchangeFailure =
  | FaultKind
  /** No token or keys for the request could be obtained. */
  | "unauthorized"
  /** The gateway's own: no open file, port or buffer was left for the connection. */
  | "shortage"
  /** The gateway's own: a file of the request could not be read. */
  | "upload"
  | "first_byte_timeout"
  | "idle_timeout"
  | "total_timeout"
  | "broken"
  | "aborted"
  | "too_large"
  /** The answer is not HTTP/1.1, or in a coding that cannot be decoded: it arrived, and is useless. */
  | "unreadable";

/** The upstream could not be reached, went silent, or broke off. */
export class ExchangeError extends Error {
  override name = "ExchangeError";
  readonly failure: ExchangeFailure;
  /** The part of a body read by `readAll` that had arrived when the exchange was `aborted`. */
  received: Buffer | undefined;

  constructor(failure: ExchangeFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** Converts an error of undici or the network. `peer` names the other side in the message. */
export function toExchangeError(error: Error, peer = "upstream"): ExchangeError {
  if (error instanceof ExchangeError) return error;
  // In undici's parser errors, `code` may be undefined.
  const code = (error as NodeJS.ErrnoException).code ?? "";
  if (code === "UND_ERR_HEADERS_TIMEOUT") {
    return new ExchangeError("first_byte_timeout", `the ${peer} sent no answer in time`, error);
  }
  if (code === "UND_ERR_BODY_TIMEOUT") {
    return new ExchangeError(
      "idle_timeout",
      `the ${peer} fell silent in the middle of its answer`,
      error,
    );
  }
  if (isShortage(error))
    return new ExchangeError("shortage", `the gateway has no connection left (${code})`, error);
  if (error instanceof FaultError) return faultError(error, peer);
  return new ExchangeError(
    "broken",
    `the connection to the ${peer} broke (${code || error.name})`,
    error,
  );
}

/** Returns the error of a failed connection to a host. */
export const connectError = (error: Error, host: string): ExchangeError =>
  toExchangeError(asFault(error, host));

/** The error of a connection that could not be made. */
export const faultError = (error: FaultError, peer = "upstream"): ExchangeError =>
  new ExchangeError(error.fault.kind, `the ${peer} cannot be reached: ${error.message}`, error);

/** True if no connection could be made, for any reason. */
export const isUnreached = ({ failure }: ExchangeError): boolean =>
  failure === "connect" || failure === "dns" || failure === "tls" || failure === "proxy";
