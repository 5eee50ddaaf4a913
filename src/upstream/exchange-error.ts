/** Why an exchange with an upstream gave no answer, or no whole one, whatever client carried it. docs/architecture.md. */
import { isShortage } from "../base/shortage.ts";
import { asFault, FaultError, type FaultKind } from "./dial/faults.ts";

/** Why an exchange failed before or during its answer. */
export type ExchangeFailure =
  | FaultKind
  /** No token or keys to ask with were to be had. */
  | "unauthorized"
  /** Ours: no open file, port or buffer was left for the connection. */
  | "shortage"
  /** Ours: a file that the request was to carry could not be read. */
  | "upload"
  | "first_byte_timeout"
  | "idle_timeout"
  | "total_timeout"
  | "broken"
  | "aborted"
  | "too_large"
  /** It is no HTTP/1.1, or in a coding that cannot be undone: it came, and is of no use. */
  | "unreadable";

/** The upstream could not be reached, went silent, or broke off. */
export class ExchangeError extends Error {
  override name = "ExchangeError";
  readonly failure: ExchangeFailure;
  /** What of a whole body had arrived when it was `aborted`. */
  received: Buffer | undefined;

  constructor(failure: ExchangeFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** What undici or the network failed with, in our terms. `peer` is who was asked, for the message. */
export function toExchangeError(error: Error, peer = "upstream"): ExchangeError {
  if (error instanceof ExchangeError) return error;
  // undici's parser has the member without a value.
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

/** Why there is no connection to a host. */
export const connectError = (error: Error, host: string): ExchangeError =>
  toExchangeError(asFault(error, host));

/** The error of a connection that could not be made. */
export const faultError = (error: FaultError, peer = "upstream"): ExchangeError =>
  new ExchangeError(error.fault.kind, `the ${peer} cannot be reached: ${error.message}`, error);

/** Whether no connection could be made, whatever was in the way. */
export const isUnreached = ({ failure }: ExchangeError): boolean =>
  failure === "connect" || failure === "dns" || failure === "tls" || failure === "proxy";
