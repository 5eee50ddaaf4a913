/** The errors of an ask without a whole answer, and whether the vendor may have received the request (T81). */
import { FaultError } from "../dial/faults.ts";
import { ExchangeError, type ExchangeFailure } from "../exchange-error.ts";

/** An ask without a whole answer. */
export class AskFailure extends ExchangeError {
  override name = "AskFailure";
  /**
   * False: the vendor did not get the whole request, so nothing was started and it may be sent again. True: it may have got it, and the
   * result is unknown.
   */
  readonly sent: boolean;

  constructor(failure: ExchangeFailure, sent: boolean, cause?: Error) {
    const detail = cause && hasDetail(failure, cause) ? `: ${cause.message}` : "";
    super(
      failure,
      `${meanings[failure]}${detail}${sent ? "" : "; the request was not sent"}`,
      cause,
    );
    this.sent = sent;
  }
}

/** True if the cause's message is one of the gateway's own. */
const hasDetail = (failure: ExchangeFailure, cause: Error): boolean =>
  failure === "unreadable" || cause instanceof FaultError;

/** The text of each failure, for the log and the caller. */
export const meanings: Readonly<Record<ExchangeFailure, string>> = {
  connect: "the provider cannot be reached",
  dns: "the provider cannot be reached",
  tls: "the provider cannot be reached",
  proxy: "the provider cannot be reached",
  unauthorized: "there is no credential for the provider",
  shortage: "the gateway has no connection left",
  upload: "a file of the request could not be read",
  first_byte_timeout: "the provider sent no answer in time",
  idle_timeout: "the provider fell silent in the middle of its answer",
  total_timeout: "the provider sent no complete answer in time",
  broken: "the connection to the provider broke",
  aborted: "the gateway closed the connection",
  too_large: "the provider's answer is too long",
  unreadable: "the provider's answer cannot be read",
};
