/** The error a caller gets when its call is not let in. Requirements: ERR; docs/decisions.md "Spend caps", docs/decisions.md "Queue limits". */
import { GatewayError, type ErrorCode } from "../base/errors.ts";
import { formatUsd, type NanoUsd } from "../base/money.ts";
import type { HoldRefusal, Refusal } from "./types.ts";

const queueRetrySeconds = 10;

/** The error for a call whose bound is `amountNano`. Codes and messages: docs/decisions.md "Spend caps". */
export function refusalError(refusal: HoldRefusal, amountNano: NanoUsd): GatewayError {
  switch (refusal.outcome) {
    case "key_unknown":
      return new GatewayError("invalid_api_key", "The API key is unknown.");
    case "key_disabled":
      return new GatewayError("api_key_disabled", "The API key is disabled.");
    case "key_revoked":
      return new GatewayError("api_key_revoked", "The API key was revoked.");
    case "key_expired":
      return new GatewayError("api_key_expired", "The API key has expired.");
    case "workspace_disabled":
      return new GatewayError("workspace_disabled", "The workspace of this API key is disabled.");
    case "insufficient_balance":
      return new GatewayError(
        "insufficient_balance",
        `This call may cost up to $${formatUsd(amountNano)}, and the workspace has $${formatUsd(refusal.availableNano)} available. ` +
          "Add credit, or ask for less.",
        { shouldRetry: false },
      );
    case "queue_full":
      return new GatewayError(
        "queue_full",
        "Too many image and video calls are in flight; nothing was reserved.",
        { retryAfterSeconds: queueRetrySeconds },
      );
    case "cap_reached":
      return capError(refusal);
  }
}

function capError(result: Extract<Refusal, { outcome: "cap_reached" }>): GatewayError {
  const code: ErrorCode = `${result.layer}_${result.window}_spend_cap_reached`;
  const layer = { workspace: "Workspace", member: "Member", key: "API key" }[result.layer];
  const resets = result.resetsAt ? `resets ${result.resetsAt.toISOString()}` : "it does not reset";
  const message = `${layer} ${result.window} spend cap of $${formatUsd(result.limitNano)} reached; ${resets}.`;
  return new GatewayError(code, message, { shouldRetry: false });
}
