/** The counting rule as `verify` implements it: the sums of a workspace's entries, in total and by UTC period. CAP rows. */
import { expect, it } from "vitest";
import { Replay, type Counted, type EntryRow } from "../../src/verification/replay.ts";

const charge = (at: string, amount: bigint): EntryRow => ({
  workspace_id: "w",
  entry: 1n,
  kind: "charge",
  amount_nano: amount,
  balance_after_nano: 0n,
  key_id: "k",
  member_id: null,
  at_ms: String(Date.parse(at)),
});
const counted = (last: string): Counted => ({
  name: "key k",
  total: "0",
  monthly: "0",
  weekly: "0",
  daily: "0",
  last,
});

/** The expected counters of the key: `least` to `most` by window. */
function periods(entries: readonly EntryRow[], last: string): Record<string, string> {
  const replay = new Replay("w");
  for (const entry of entries) replay.add(entry);
  return Object.fromEntries(
    replay.compare(counted(last)).map(({ window, least, most }) => [window, `${least} ${most}`]),
  );
}

it("a balance is credits minus charges, and other kinds of entries change nothing", () => {
  const replay = new Replay("w");
  const of = (kind: EntryRow["kind"], amount: bigint): EntryRow => ({
    ...charge("2026-11-02T12:00:00Z", amount),
    kind,
  });
  expect(replay.add(of("credit", 10n))).toBe(10n);
  expect(replay.add(of("charge", 3n))).toBe(7n);
  expect(replay.add(of("void", 5n))).toBe(7n);
  expect(replay.add(of("expire", 5n))).toBe(7n);
  expect(replay.add(of("charge", 0n))).toBe(7n);
  expect([...replay.scopes()]).toEqual(["workspace w", "key k"]);
  expect(replay.totalOf("key k")).toBe(3n);
  expect(replay.totalOf("member m")).toBe(0n);
});

it("CAP-02 CAP-03 CAP-06: daily, weekly (from Monday) and monthly sums start again with their period, and the total never does", () => {
  const entries = [
    charge("2026-11-29T10:00:00Z", 1n), // Sunday
    charge("2026-11-30T10:00:00Z", 2n), // Monday
    charge("2026-12-01T00:00:00Z", 4n),
    charge("2026-12-01T23:59:59Z", 8n),
  ];
  expect(periods(entries.slice(0, 2), "2026-11-30")).toEqual({
    total: "3 3",
    monthly: "3 3",
    weekly: "2 2",
    daily: "2 2",
  });
  expect(periods(entries, "2026-12-01")).toEqual({
    total: "15 15",
    monthly: "12 12",
    weekly: "14 14",
    daily: "12 12",
  });
});

it("a charge of 0 starts no period, and a charge without key and member counts for the workspace only", () => {
  const entries = [charge("2026-11-02T12:00:00Z", 5n), charge("2026-11-03T12:00:00Z", 0n)];
  expect(periods(entries, "2026-11-02")).toEqual({
    total: "5 5",
    monthly: "5 5",
    weekly: "5 5",
    daily: "5 5",
  });
  const replay = new Replay("w");
  replay.add({ ...entries[0]!, key_id: null });
  expect([...replay.scopes()]).toEqual(["workspace w"]);
});

it("after the clock went back over midnight, either day is accepted for the charge", () => {
  const entries = [
    charge("2026-11-03T00:00:01Z", 1n), // Tuesday
    charge("2026-11-02T23:59:59Z", 2n),
    charge("2026-11-03T00:00:02Z", 4n),
  ];
  expect(periods(entries, "2026-11-03")).toEqual({
    total: "7 7",
    monthly: "7 7",
    weekly: "7 7",
    daily: "5 7",
  });
});

it("a latest day after the last charge leaves 0 in later periods, and a day of -infinity is ignored", () => {
  const entries = [charge("2026-11-02T12:00:00Z", 5n)];
  expect(periods(entries, "2026-11-03")).toEqual({
    total: "5 5",
    monthly: "5 5",
    weekly: "5 5",
    daily: "0 0",
  });
  expect(periods(entries, "-infinity")["daily"]).toBe("5 5");
  expect(periods([], "-infinity")).toEqual({
    total: "0 0",
    monthly: "0 0",
    weekly: "0 0",
    daily: "0 0",
  });
});
