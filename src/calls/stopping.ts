/** What a caller is told whose answer takes longer than a gateway that stops can wait. docs/operate.md "Starting and stopping". */
import { GatewayError } from "../base/errors.ts";

/** Takes what ends a call when the gateway stops; `isLast`: its connection is cut next. @returns what takes that back */
export type OnStop = (end: (isLast: boolean) => void) => () => void;

/** `charged` is a sentence. */
export const stopping = (charged: string): GatewayError =>
  new GatewayError(
    "shutting_down",
    `The gateway stops, and this answer took longer than it can wait. ${charged}`,
    { retryAfterSeconds: 1 },
  );

export const arrivedIsCharged = "What arrived is charged.";
export const nothingIsCharged = "Nothing was charged.";
