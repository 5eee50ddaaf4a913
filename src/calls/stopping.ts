/** The error for a caller whose answer takes longer than a stopping gateway can wait. docs/operate.md "Starting and stopping". */
import { GatewayError } from "../base/errors.ts";

/** Work that can be ended when the gateway stops. */
export interface Stoppable {
  /** Called before connections are cut. `isLast`: this one's is cut next. */
  stop(isLast: boolean): void;
}

/** `charged` is a sentence about the charge. `shouldRetry` false: a vendor may bill the call, so SDKs must not repeat it. */
export const stopping = (charged: string, shouldRetry?: boolean): GatewayError =>
  new GatewayError(
    "shutting_down",
    `The gateway stops, and this answer took longer than it can wait. ${charged}`,
    { retryAfterSeconds: 1, shouldRetry },
  );

export const arrivedIsCharged = "What arrived is charged.";
export const nothingIsCharged = "Nothing was charged.";

/**
 * Returns the result of `work`, before anything is spent. If the gateway stops first, calls `giveUp`.
 * @throws GatewayError in that case
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
