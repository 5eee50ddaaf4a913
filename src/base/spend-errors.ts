/** What a caller is told whose call a spend cap or the balance refuses. docs/decisions.md "Spend caps". Amounts are nano-USD. */
import { layers, resetsAt, windows } from "./cap-windows.ts";
import { GatewayError } from "./errors.ts";
import { formatUsd, type NanoUsd } from "./money.ts";

/** What a call may cost, and what is left for it. */
export interface Shortage {
  readonly bound: NanoUsd;
  readonly left: NanoUsd;
}

/**
 * Of the balance: credits and credit line, without what is spent and what calls under way have set aside. Where nothing is left, less
 * is no way out.
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
 * Of a cap, by its place among all: layer by layer, in each window by window. A hard cap refuses a call that may cost more than is
 * left of it; that something is left is told, because a smaller call fits. CAP-15
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
