/**
 * Sends callbacks through the address guard, which checks the address at each try. HOOK-07,
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
  /** Milliseconds from the resolution of the name to the head of the answer. */
  readonly timeoutMs: number;
  /** Called at the last moment before bytes are sent. */
  readonly maySend: () => boolean;
  /** Fires when the deliverer closes and has waited long enough. */
  readonly signal: AbortSignal;
}

/** The answer of a receiver, with header names in lower case. */
interface ReceiverAnswer {
  readonly status: number;
  readonly headers?: Parameters<typeof retryAfterMsOf>[0];
}

/**
 * POSTs a callback. Resolves with the receiver's answer, even a redirect; rejects with NotSentError, or a message fit for the delivery
 * log.
 */
export type SendCallback = (request: CallbackRequest) => Promise<ReceiverAnswer>;

/** The response body is ignored; a little of it is read so that the receiver sees it accepted. */
const answerBytesMax = 4096;

export interface SenderOptions {
  /** The operator's switch for local development. */
  readonly allowPrivate: boolean;
  /** Resolves names; the system's resolver if absent. */
  readonly resolve?: Resolve | undefined;
  /** The routes to receivers; direct if absent. */
  readonly dialRoutes?: Pick<Pools, "dialRoute"> | undefined;
}

/** Creates a sender that uses HTTPS only, public addresses only, and the very address that was checked. */
export function createSender({ allowPrivate, resolve, dialRoutes }: SenderOptions): SendCallback {
  return (request) =>
    guardedRequest({
      ...request,
      method: "POST",
      https: true,
      allowPrivate,
      resolve,
      dialRoutes,
      param: "webhook_url",
      responseBytesMax: answerBytesMax,
    });
}
