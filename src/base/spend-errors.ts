/** The errors for a caller whose call a spend cap or the balance refuses. docs/decisions.md "Spend caps". Amounts are nano-USD. */
import { layers, resetsAt, windows } from "./cap-windows.ts";
import { GatewayError } from "./errors.ts";
import { formatUsd, type NanoUsd } from "./money.ts";

/** The bound of a call, and the amount that is left for it. */
export interface Shortage {
  readonly bound: NanoUsd;
  readonly left: NanoUsd;
}

/**
 * Returns the error of the balance: credits and credit line, less spending and reservations in flight. If nothing is left, the message does
 * not advise a smaller call.
 */
export function balanceError({ bound, left }: Shortage): GatewayError {
  const why =
    left < 0n
      ? `it is $${formatUsd(-left)} over`
      : "all of it is spent, or set aside by calls under way";
  const cost = formatUsd(bound);
  const message =
    left > 0n
      ? `This call may cost up to $${cost}, and the workspace has $${formatUsd(left)} available. Add credit, or ask for less.`
      : `This call may cost up to $${cost}, and the workspace has no credit available: ${why}. Add credit.`;
  return new GatewayError("insufficient_balance", message, { shouldRetry: false });
}

/**
 * Returns the error of a cap, by its index: layer by layer, and window by window in each. A hard cap refuses a call that may cost more than
 * it has left. The message then names the rest, because a smaller call fits. CAP-15
 */
export function capError(
  place: number,
  cap: NanoUsd,
  at: Date,
  { bound, left }: Shortage,
): GatewayError {
  const layer = layers[Math.floor(place / windows.length)]!;
  const window = windows[place % windows.length]!;
  const whose = { workspace: "Workspace", member: "Member", key: "API key" }[layer];
  const end = resetsAt(window, at.getTime());
  const resets = end ? `resets ${end.toISOString()}` : "it does not reset";
  const why =
    left > 0n
      ? `: this call may cost up to $${formatUsd(bound)}, and $${formatUsd(left)} of it is neither spent nor set aside`
      : "";
  return new GatewayError(
    `${layer}_${window}_spend_cap_reached`,
    `${whose} ${window} spend cap of $${formatUsd(cap)} reached${why}; ${resets}.`,
    { shouldRetry: false },
  );
}
