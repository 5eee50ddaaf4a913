/**
 * How a callback leaves: through the guard of addresses, anew at each try. HOOK-07,
 * HOOK-08; trap T77.
 */
import {
  guardedRequest,
  type Pools,
  type Resolve,
  type retryAfterMsOf,
} from "../../upstream/index.ts";

export interface CallbackRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The workspace that named the address. */
  readonly owner: string;
  /** For everything from the name's resolution to the answer's head. */
  readonly timeoutMs: number;
  /** Asked at the last moment before bytes leave. */
  readonly mayLeave: () => boolean;
  /** Fires when the deliverer closes and has waited long enough. */
  readonly signal: AbortSignal;
}

/** What a receiver answered; its headers by lower-case names. */
interface ReceiverAnswer {
  readonly status: number;
  readonly headers?: Parameters<typeof retryAfterMsOf>[0];
}

/** POSTs a callback. Resolves with the receiver's answer, a redirect's too; rejects with NotSentError, or a message fit for the delivery log. */
export type SendCallback = (request: CallbackRequest) => Promise<ReceiverAnswer>;

/** The response body is ignored; a little of it is read so that the receiver sees it accepted. */
const answerBytesMax = 4096;

export interface SenderOptions {
  /** The operator's switch for local development. */
  readonly allowPrivate: boolean;
  /** How names are resolved, where that is not the system's way. */
  readonly resolve?: Resolve | undefined;
  /** How receivers are reached; directly if absent. */
  readonly ways?: Pick<Pools, "way"> | undefined;
}

/** A sender over HTTPS only, to public addresses only, to the address that was checked. */
export function createSender({ allowPrivate, resolve, ways }: SenderOptions): SendCallback {
  return (request) =>
    guardedRequest({
      ...request,
      method: "POST",
      https: true,
      allowPrivate,
      resolve,
      ways,
      param: "webhook_url",
      responseBytesMax: answerBytesMax,
    });
}
