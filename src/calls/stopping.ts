/** What a caller is told whose answer takes longer than a gateway that stops can wait. docs/operate.md "Starting and stopping". */
import { GatewayError } from "../base/errors.ts";

/** What is ended when the gateway stops. */
export interface Stoppable {
  /** Connections will be cut; `isLast`: this one's next. */
  stop(isLast: boolean): void;
}

/** `charged` is a sentence. */
export const stopping = (charged: string): GatewayError =>
  new GatewayError(
    "shutting_down",
    `The gateway stops, and this answer took longer than it can wait. ${charged}`,
    { retryAfterSeconds: 1 },
  );

export const arrivedIsCharged = "What arrived is charged.";
export const nothingIsCharged = "Nothing was charged.";

/**
 * What comes of `work`, which is waited for before anything is spent. `giveUp` is called where the gateway stops first.
 * @throws GatewayError then
 */
export async function unlessStopped<Result>(
  call: { stoppable: Stoppable | undefined },
  work: Promise<Result>,
  giveUp?: () => void,
): Promise<Result> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  call.stoppable = {
    stop: (isLast) => {
      if (!isLast) return;
      giveUp?.();
      reject(stopping(nothingIsCharged));
    },
  };
  try {
    return await Promise.race([work, stopped]);
  } finally {
    call.stoppable = undefined;
  }
}
