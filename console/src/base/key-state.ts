/** Whether a key's calls are admitted, judging by the key and its workspace alone. Pure. */
import { windowNames, windows, type SpendCaps, type Window } from "./caps.ts";
import { parseUsd } from "./money.ts";

interface KeyState {
  readonly word: "active" | "disabled" | "revoked" | "expired" | "cap reached";
  /** Further detail; undefined if the word says it all. */
  readonly more?: string;
}

interface KeyStateFields {
  readonly status: "active" | "disabled" | "revoked";
  readonly expires_at: string | null;
  readonly spend_caps: SpendCaps;
  readonly remaining: Readonly<Record<Window, string | null>>;
}

/** Returns the state of the key's record, or why an active key is refused. `isStopped`: its workspace is disabled. */
export function keyStateOf(key: KeyStateFields, now: Date, isStopped = false): KeyState {
  const { status, expires_at: expiry, spend_caps: caps, remaining } = key;
  if (status !== "active") return { word: status };
  if (isStopped) return { word: "disabled", more: "its workspace is disabled" };
  if (expiry !== null && new Date(expiry) <= now) return { word: "expired", more: expiry };
  const reached = windows.find((window) => {
    const left = remaining[window];
    return left !== null && parseUsd(left) <= 0n;
  });
  if (reached === undefined) return { word: "active" };
  return { word: "cap reached", more: `${windowNames[reached]}: ${caps[reached]} USD are spent` };
}
