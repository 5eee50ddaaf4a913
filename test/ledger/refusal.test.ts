/** The errors for refused calls. docs/errors.md; ERR rows. */
import { expect, it } from "vitest";
import { refusalOf, type Answer } from "../../src/ledger/refusal.ts";

const at = new Date("2026-11-02T12:00:00Z");
const answer: Answer = { refusal: null, available: null, rooms: [], caps: [], idle: 0n, at };
const bound = 1_500_000_000n;
const refusedBy = (more: Partial<Answer>) => refusalOf({ ...answer, ...more }, bound)!;
const errorOf = (more: Partial<Answer>) => {
  const { status, code, message } = refusedBy(more);
  return `${status} ${code}: ${message}`;
};
/** Twelve places, all null but one: per layer total, monthly, weekly, daily. */
const only = (place: number, value: bigint) =>
  Array.from({ length: 12 }, (_, index) => (index === place ? value : null));

it("each refusal has its code, its status and its advice", () => {
  expect(errorOf({ refusal: "key_unknown" })).toMatch(/^401 invalid_api_key: /);
  expect(errorOf({ refusal: "key_disabled" })).toMatch(/^401 api_key_disabled: /);
  expect(errorOf({ refusal: "key_revoked" })).toMatch(/^401 api_key_revoked: /);
  expect(errorOf({ refusal: "key_expired" })).toMatch(/^401 api_key_expired: /);
  expect(errorOf({ refusal: "workspace_disabled" })).toMatch(/^403 workspace_disabled: /);
  expect(errorOf({ available: 250_000_000n })).toBe(
    "402 insufficient_balance: This call may cost up to $1.5, and the workspace has $0.25 available. Add credit, or ask for less.",
  );
  expect(errorOf({ refusal: "queue_full" })).toMatch(/^503 queue_full: .*nothing was reserved/);
  const cap = (place: number) => ({ rooms: only(place, 0n), caps: only(place, 2_000_000_000n) });
  expect(errorOf(cap(11))).toBe(
    "402 key_daily_spend_cap_reached: API key daily spend cap of $2 reached; resets 2026-11-03T00:00:00.000Z.",
  );
  expect(errorOf(cap(8))).toMatch(/^402 key_total_spend_cap_reached: .*it does not reset\.$/);
  expect(errorOf(cap(5))).toMatch(
    /^402 member_monthly_spend_cap_reached: Member .*resets 2026-12-01T/,
  );
});

it("CAP-15: a refusal at a hard cap with some room left names that room and the cost of the call", () => {
  const messageOf = (room: bigint, free: bigint) =>
    refusalOf({ ...answer, rooms: only(11, room), caps: only(11, 2_000_000_000n) }, bound, free)!
      .message;
  expect(messageOf(1_000_000_000n, 200_000_000n)).toBe(
    "API key daily spend cap of $2 reached: this call may cost up to $1.5, and $1.2 of it is neither spent nor set aside; resets 2026-11-03T00:00:00.000Z.",
  );
  // The cap is used up: no call fits.
  for (const room of [0n, -5n])
    expect(messageOf(room, 0n)).toBe(
      "API key daily spend cap of $2 reached; resets 2026-11-03T00:00:00.000Z.",
    );
});

it("a cap is reported before the balance, and free reservations count as available", () => {
  const both = { available: 0n, rooms: only(0, 0n), caps: only(0, 1n) };
  expect(refusedBy(both).code).toBe("workspace_total_spend_cap_reached");
  const short = { ...answer, available: bound - 2n };
  expect(refusalOf(short, bound, 1n)).toMatchObject({ code: "insufficient_balance" });
  expect(refusalOf(short, bound, 2n)).toBeUndefined();
});

it("BILL-23: the available amount in a refusal includes reservations that are not in use, as the balance does", () => {
  const messageOf = (more: Partial<Answer>, free: bigint) =>
    /has \$(\S+) available/.exec(refusalOf({ ...answer, ...more }, bound, free)!.message)![1];
  expect(messageOf({ available: 1_000_000_000n }, 200_000_000n)).toBe("1.2");
  expect(messageOf({ available: 1_000_000_000n, idle: 100_000_000n }, 200_000_000n)).toBe("1.3");
  // The call waited in vain for other calls to return what they do not use.
  expect(messageOf({ available: 1_000_000_000n, idle: 300_000_000n }, 200_000_000n)).toBe("1.2");
});

it("BILL-23: without available credit the message only advises to add credit", () => {
  expect(refusedBy({ available: 0n }).message).toBe(
    "This call may cost up to $1.5, and the workspace has no credit available: all of it is spent, or set aside by calls under way. Add credit.",
  );
  expect(refusedBy({ available: -250_000_000n }).message).toBe(
    "This call may cost up to $1.5, and the workspace has no credit available: it is $0.25 over. Add credit.",
  );
});

it("only a full queue is worth a retry, and has a Retry-After", () => {
  expect(refusedBy({ refusal: "queue_full" }).retryAfterSeconds).toBe(10);
  expect(refusedBy({ available: 0n })).toMatchObject({ shouldRetry: false });
});
