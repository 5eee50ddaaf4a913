/** The tree of caps, and amounts of money as shown and as spoken, with tables and properties. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { capsOf } from "../../console/src/base/caps.ts";
import { limitsOf } from "../../console/src/base/limits.ts";
import { fullUsd, spokenUsd } from "../../console/src/base/money.ts";
import { previousValues } from "../../console/src/base/previous-values.ts";
import { callOf, filtersOf, queryOf } from "../../console/src/pages/ledger/filters.ts";
import { freeOf, treeOf, type Capped, type Node } from "../../console/src/pages/money/tree.ts";
import { nanoOf } from "./made-up-calls.ts";

const none = { daily: null, weekly: null, monthly: null, total: null };
const zero = { daily: "0", weekly: "0", monthly: "0", total: "0" };
const ends = { daily: "2026-11-24T00:00:00Z", weekly: "2026-11-30T00:00:00Z" };

/** An object with a monthly cap of 10 and this much spent; without a cap if `spent` is undefined. */
const capped = (spent: string | undefined): Capped => ({
  spend_caps: { ...none, hard: false, ...(spent !== undefined && { monthly: "10" }) },
  spend: { ...zero, monthly: spent ?? "0" },
  remaining: none,
  resets_at: { ...ends, monthly: "2026-12-01T00:00:00Z" },
});
const key = (id: string, owner: string | null, spent?: string, status = "active") => ({
  ...capped(spent),
  id,
  name: id,
  created_by: owner,
  status,
});
const drawn = ({ name, nearest, below, free }: Node): unknown[] => [
  name,
  nearest,
  free,
  ...below.map(drawn),
];

it("the tree lists what is nearest to its limit first in each layer, and counts keys without caps", () => {
  const tree = treeOf({
    workspace: { ...capped("2"), id: "w", name: "w" },
    members: [
      { ...capped("1"), user_id: "ann", email: "ann" },
      { ...capped(undefined), user_id: "mem", email: "mem" },
    ],
    keys: [
      key("a1", "ann", "3"),
      key("a2", "ann"),
      key("m1", "mem", "9.9"),
      key("m2", "mem", "12"),
      key("gone", "ann", "10", "revoked"),
      key("left", "left", "5"),
      key("token", null),
    ],
  });
  expect(drawn(tree)).toEqual([
    "w",
    120,
    1,
    ["mem", 120, 0, ["m2", 120, 0], ["m1", 99, 0]],
    ["left", 50, 0],
    ["ann", 30, 1, ["a1", 30, 0]],
  ]);
});

it('the number of keys without a cap says "or more" if not all keys were read', () => {
  expect([freeOf(1, false), freeOf(33, false), freeOf(33, true)]).toEqual([
    "1 key without a cap",
    "33 keys without a cap",
    "33 keys or more without a cap",
  ]);
});

it("the nearest of several caps comes first, and a cap of 0 counts as reached", () => {
  const two: Capped = {
    ...capped("2"),
    spend_caps: { daily: "4", weekly: null, monthly: "10", total: "0", hard: true },
    spend: { ...zero, daily: "2", monthly: "2", total: "0" },
  };
  const { lines, nearest } = treeOf({
    workspace: { ...two, id: "w", name: "w" },
    members: [],
    keys: [],
  });
  expect(lines.map(({ window, resetsAt }) => [window, resetsAt])).toEqual([
    ["total", undefined],
    ["daily", ends.daily],
    ["monthly", "2026-12-01T00:00:00Z"],
  ]);
  expect(nearest).toBe(100);
});

it("ledger amounts have nine exact decimals, and a spoken form in dollars and cents", () => {
  for (const [nano, full, spoken] of [
    [0n, "0.000000000", "0 dollars"],
    [25_500_000_000n, "25.500000000", "25 dollars and 50 cents"],
    [1_010_000_001n, "1.010000001", "1 dollar and 1 cent and 1 nano-dollar"],
    [-1_234_000_000_000n, "-1,234.000000000", "minus 1,234 dollars"],
  ] as const)
    expect([fullUsd(nano), spokenUsd(nano)]).toEqual([full, spoken]);
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (nano) => {
      expect(nanoOf(fullUsd(nano))).toBe(nano);
    }),
  );
});

it("the ledger's address drops unknown kinds; a late charge links to its call, and a credit to none", () => {
  expect(filtersOf({ kind: "constructor", key: "k", other: "1" })).toEqual({ key: "k" });
  const now = Date.parse("2026-11-23T10:00:30Z");
  expect(queryOf({ kind: "charge", period: "24h", member: "m" }, now)).toEqual({
    kind: "charge",
    key_id: undefined,
    member_id: "m",
    reference: undefined,
    from: "2026-11-22T10:00:00.000Z",
    to: undefined,
  });
  expect(["req_01a", "req_01a:late", "task_9", "credit:req_1", "credit_1"].map(callOf)).toEqual([
    "req_01a",
    "req_01a",
    "task_9",
    undefined,
    undefined,
  ]);
});

it("a change of some caps and limits names these alone, and so does its Undo", () => {
  const change = {
    spend_caps: capsOf({ daily: " 5 ", total: "", hard: true }),
    rate_limits: limitsOf({ concurrency: "", tokens_per_minute: 9 }),
    response_cache: { ttl_seconds: 60 },
  };
  expect(change).toEqual({
    spend_caps: { daily: "5", total: null, hard: true },
    rate_limits: { concurrency: null, tokens_per_minute: 9 },
    response_cache: { ttl_seconds: 60 },
  });
  const before = {
    spend_caps: { daily: null, weekly: "7", total: "8", hard: false },
    rate_limits: { requests_per_minute: 1, tokens_per_minute: 2, concurrency: 3 },
    response_cache: null,
  };
  expect(previousValues(before, change)).toEqual({
    spend_caps: { daily: null, total: "8", hard: false },
    rate_limits: { concurrency: 3, tokens_per_minute: 2 },
    response_cache: null,
  });
});
