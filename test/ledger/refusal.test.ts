/** The errors for refused reservations. docs/errors.md; ERR rows. */
import { expect, it } from "vitest";
import { refusalError } from "../../src/ledger/index.ts";

const errorOf = (refusal: Parameters<typeof refusalError>[0]) => {
  const error = refusalError(refusal, 1_500_000_000n);
  return `${error.status} ${error.code}: ${error.message}`;
};

it("each has its code, its status and what to do", () => {
  expect(errorOf({ outcome: "key_unknown" })).toMatch(/^401 invalid_api_key: /);
  expect(errorOf({ outcome: "key_disabled" })).toMatch(/^401 api_key_disabled: /);
  expect(errorOf({ outcome: "key_revoked" })).toMatch(/^401 api_key_revoked: /);
  expect(errorOf({ outcome: "key_expired" })).toMatch(/^401 api_key_expired: /);
  expect(errorOf({ outcome: "workspace_disabled" })).toMatch(/^403 workspace_disabled: /);
  expect(errorOf({ outcome: "insufficient_balance", availableNano: 250_000_000n })).toBe(
    "402 insufficient_balance: This call may cost up to $1.5, and the workspace has $0.25 available. Add credit, or ask for less.",
  );
  expect(errorOf({ outcome: "queue_full" })).toMatch(/^503 queue_full: .*nothing was reserved/);
  const cap = { outcome: "cap_reached", layer: "key", limitNano: 2_000_000_000n } as const;
  expect(errorOf({ ...cap, window: "daily", resetsAt: new Date("2026-11-03T00:00:00Z") })).toBe(
    "402 key_daily_spend_cap_reached: API key daily spend cap of $2 reached; resets 2026-11-03T00:00:00.000Z.",
  );
  expect(errorOf({ ...cap, window: "total", resetsAt: null })).toMatch(/it does not reset\.$/);
});

it("only a full queue is worth another try, and says when", () => {
  expect(refusalError({ outcome: "queue_full" }, 1n).retryAfterSeconds).toBe(10);
  expect(refusalError({ outcome: "insufficient_balance", availableNano: 0n }, 1n)).toMatchObject({
    shouldRetry: false,
  });
});
