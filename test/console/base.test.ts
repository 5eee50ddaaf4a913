/** Amounts, counts, times, addresses and sentences of the console, with tables of cases. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  differencesOf,
  previousValues,
  readValue,
  changedValueAt,
} from "../../console/src/base/previous-values.ts";
import { briefUsd, exactUsd, parseUsd, readUsd, shareOf } from "../../console/src/base/money.ts";
import { readCount, readDuration } from "../../console/src/base/numbers.ts";
import { parseSearch, pick, stringifySearch } from "../../console/src/base/search.ts";
import { paceText, reaches, projectedSpend } from "../../console/src/base/pace.ts";
import {
  readAgo,
  readIn,
  readInColumn,
  readMomentsIn,
  readTime,
  readUntil,
} from "../../console/src/base/time.ts";
import { keyStateOf } from "../../console/src/base/key-state.ts";
import { comparisonOf } from "../../console/src/pages/requests/one/comparison.ts";
import {
  barsOf,
  shapeOf,
  spanBetween,
  stripQuery,
  wordsOf,
} from "../../console/src/pages/requests/strip.ts";
import { cacheFieldsOf, cacheOf, readCache } from "../../console/src/base/cache.ts";
import { sentencesOf } from "../../console/src/pages/requests/one/sentence.ts";

it("an exact amount keeps every digit; a short one has two decimals, or four significant digits below 1", () => {
  for (const [text, exact, read] of [
    ["0", "0", "0"],
    ["0.000000001", "0.000000001", "0.000000001"],
    ["0.000123456", "0.000123456", "0.0001235"],
    ["0.99994", "0.99994", "0.9999"],
    ["0.99999", "0.99999", "1.00"],
    ["-0.99999", "-0.99999", "-1.00"],
    ["1", "1", "1.00"],
    ["1.005", "1.005", "1.01"],
    ["-12345.678", "-12,345.678", "-12,345.68"],
  ] as const) {
    expect([exactUsd(parseUsd(text)), readUsd(parseUsd(text))]).toEqual([exact, read]);
  }
  const small = ["0.000123999", "-0.00002"].map((text) => briefUsd(parseUsd(text)));
  expect(small).toEqual(["1.239e-4", "-2e-5"]);
  const brief = ["9999.99", "10000", "999999.99", "12345678.2", "-90000000", "1234567890.1"];
  expect(brief.map((text) => briefUsd(parseUsd(text)))).toEqual([
    "9,999.99",
    "10k",
    "999.99k",
    "12.34M",
    "-90M",
    "1.23B",
  ]);
  expect(() => parseUsd("1e3")).toThrow("not an amount");
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (nano) => {
      expect(parseUsd(exactUsd(nano).replaceAll(",", ""))).toBe(nano);
    }),
  );
});

it("counts and durations are shortened and never rounded up", () => {
  expect(
    [0, 1204, 99_999, 128_449, 999_999, 3_219_999, 999_999_999, 17_539_999_999].map(readCount),
  ).toEqual(["0", "1,204", "99,999", "128.4k", "999.9k", "3.21M", "999.99M", "17.53B"]);
  expect([0, 380, 1429, 59_999, 125_000].map(readDuration)).toEqual([
    "0 ms",
    "380 ms",
    "1.42 s",
    "59.99 s",
    "2 m 05 s",
  ]);
});

it("shares of a cap, times until a reset and times since the last use are readable", () => {
  const shares = [
    [0n, 100n],
    [799n, 1000n],
    [100n, 100n],
    [5n, 0n],
    [10n ** 18n, 3n * 10n ** 18n],
  ] as const;
  expect(shares.map(([part, whole]) => shareOf(part, whole))).toEqual([0, 79.9, 100, 100, 33.3]);
  const now = new Date("2026-11-23T18:47:30Z");
  const until = [
    "2026-11-24T00:00:00Z",
    "2026-12-01T00:00:00Z",
    "2026-11-23T18:47:31Z",
    "2020-01-01T00:00:00Z",
  ];
  expect(until.map((time) => readUntil(new Date(time), now))).toEqual([
    "in 5 h 13 m",
    "in 7 d 5 h",
    "in 1 m",
    "in 0 m",
  ]);
  readIn("utc");
  expect(readMomentsIn("out: paused until 2020-01-02T14:03:00.000Z, or so")).toBe(
    "out: paused until 2 Jan 14:03, or so",
  );
  expect(readMomentsIn("outside the supply tiers")).toBe("outside the supply tiers");
  readIn("local");
  const ago = [
    "2026-11-23T18:47:00Z",
    "2026-11-23T18:01:00Z",
    "2026-11-23T00:00:00Z",
    "2026-11-01T00:00:00Z",
  ];
  expect(ago.map((time) => readAgo(new Date(time), now))).toEqual([
    "just now",
    "46 m ago",
    "18 h ago",
    "22 d ago",
  ]);
});

it("a change can be reversed to its previous values, and two states are compared by the fields that a person changed", () => {
  const before = {
    name: "ci",
    spend_caps: { daily: "5" },
    status: "active",
    spend: "1",
    etag: "a",
  };
  expect(previousValues(before, { name: "other", expires_at: "2027-01-01" })).toEqual({
    name: "ci",
    expires_at: null,
  });
  const after = { ...before, spend_caps: { daily: null }, spend: "2", etag: "b" };
  expect(differencesOf(before, after)).toEqual([
    { field: "spend_caps.daily", before: "5", after: "none" },
  ]);
  const change = { spend_caps: { daily: "7" }, name: null };
  expect(
    ["spend_caps.daily", "name", "spend_caps.weekly", "name.first"].map((path) =>
      changedValueAt(change, path),
    ),
  ).toEqual(["7", "none", undefined, undefined]);
  expect(differencesOf(null, { id: "key_1" })).toEqual([
    { field: "id", before: "none", after: "key_1" },
  ]);
  expect([[], ["a", "b"], true, 3, {}, { a: { b: [1] } }].map(readValue)).toEqual([
    "none",
    "a, b",
    "yes",
    "3",
    "none",
    "a b 1",
  ]);
});

it("an address is parsed as it was written, and a hostile one does no harm", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string()), (fields) => {
      const kept = pick(parseSearch(stringifySearch(fields)), ["model", "status"]);
      expect(Object.keys(kept).every((name) => ["model", "status"].includes(name))).toBe(true);
    }),
  );
  const fields = { model: "a/b,c d&e", status: "failed" };
  expect(parseSearch(stringifySearch(fields))).toEqual(fields);
  expect(pick(parseSearch("?__proto__=1&model=a&model=b&other=c"), ["model"])).toEqual({
    model: "b",
  });
});

it("the spend projection gives the end of the period and the time of the cap, and nothing on the first day", () => {
  const [begin, end] = [new Date("2026-11-01T00:00:00Z"), new Date("2026-12-01T00:00:00Z")];
  const on = (now: string, spent: bigint) => ({ spent, begin, now: new Date(now) });
  const third = on("2026-11-11T00:00:00Z", 10_000_000_001n);
  expect(projectedSpend(end, third)).toBe(30_000_000_003n);
  expect(projectedSpend(end, on("2026-11-01T23:59:00Z", 5n))).toBeUndefined();
  expect(projectedSpend(end, on("2026-12-01T00:00:00Z", 5n))).toBeUndefined();
  expect(reaches(20_000_000_002n, third)?.toISOString()).toBe("2026-11-21T00:00:00.000Z");
  for (const [limit, spent] of [
    [10n, 10n],
    [10n, 0n],
    [10n ** 30n, 1n],
  ] as const)
    expect(reaches(limit, on("2026-11-11T00:00:00Z", spent))).toBeUndefined();
  const words = (cap: bigint, window: string, resetsAt?: string) =>
    paceText({ window, resetsAt }, { spent: third.spent, cap }, third.now);
  const month = end.toISOString();
  expect(words(20_000_000_002n, "monthly", month)).toBe("at this rate reached on 21 Nov (UTC)");
  // Not before it begins anew, of no such time, or in a week that began two days ago.
  expect(words(31_000_000_000n, "monthly", month)).toBeUndefined();
  expect(words(20_000_000_002n, "daily", "2026-11-12T00:00:00Z")).toBeUndefined();
  expect(words(20_000_000_002n, "total")).toBeUndefined();
  expect(words(20_000_000_002n, "weekly", "2026-11-16T00:00:00Z")).toBe(
    "at this rate reached on 13 Nov (UTC)",
  );
});

it("times are shown in the chosen time zone", () => {
  const time = new Date("2026-11-23T23:30:05.007Z");
  readIn("utc");
  expect(readTime(time, new Date("2026-11-23T00:00:00Z"))).toBe("23:30:05.007");
  expect(readTime(time, new Date("2026-11-24T00:00:00Z"))).toBe("2026-11-23 23:30:05.007");
  expect(readInColumn(time, new Date("2026-11-24T00:00:00Z"))).toBe("23 Nov 23:30:05");
  readIn("local");
});

it("a time in a column is short, and shows the day only as needed", () => {
  const now = new Date(2026, 10, 23, 14, 3, 22, 114);
  for (const [time, text] of [
    [new Date(2026, 10, 23, 9, 5, 7, 3), "09:05:07.003"],
    [new Date(2026, 10, 22, 22, 10, 7), "22 Nov 22:10:07"],
    [new Date(2025, 0, 2, 3, 4, 5), "2 Jan 2025"],
  ] as const)
    expect(readInColumn(time, now)).toBe(text);
});

it("the chart above the log covers the filtered time, describes its bars, and ignores filters that the sums do not have", () => {
  const now = new Date("2026-11-23T14:03:22Z");
  const day = shapeOf({ key: "key_1" }, now)!;
  expect([day.step, day.starts.length, day.starts.at(-1)]).toEqual([
    "hour",
    25,
    "2026-11-23T14:00:00.000Z",
  ]);
  expect(stripQuery({ key: "key_1", status: "failed" }, day)).toMatchObject({
    key_id: "key_1",
    status: "failed",
    granularity: "hour",
    // The current minute counts.
    to: "2026-11-23T14:04:00.000Z",
  });
  const bars = barsOf([{ start: day.starts[1]!, requests: 3, errors: 1 }], day);
  expect(wordsOf(bars, "hour", 2, 0)).toBe("22 Nov 14:00 to 17:00 (UTC): 3 calls, 1 failed");
  const many = [{ ...bars[0]!, calls: 2407, failed: 1069 }];
  expect(wordsOf(many, "hour", 0, 0)).toMatch(/: 2,407 calls, 1,069 failed$/);
  expect(spanBetween(day, 24, 24)).toEqual({
    from: "2026-11-23T14:00:00.000Z",
    to: "2026-11-23T14:04:00.000Z",
  });
  expect(shapeOf({ period: "90d" }, now)?.step).toBe("day");
  const failed = shapeOf({ status: "failed,expired" }, now)!;
  expect(stripQuery({ status: "failed,expired" }, failed).status).toBeUndefined();
  expect(barsOf([{ start: failed.starts[0]!, requests: 9, errors: 2 }], failed)[0]!.calls).toBe(2);
  for (const one of [
    { q: "x" },
    { cost: "1" },
    { slower: "1" },
    { tag: "a:b" },
    { changed: "1" },
    { http: "500" },
    { status: "failed,canceled" },
    { from: "2026-11-23T14:04:00Z" },
  ])
    expect(shapeOf(one, now)).toBeUndefined();
});

it("a response cache passes through its form unchanged, and is described in words", () => {
  for (const cache of [null, { ttl_seconds: 5_400, charge_percent: 10 }])
    expect(cacheOf(cacheFieldsOf(cache))).toEqual(cache);
  expect(cacheOf({ seconds: 60, percent: "" })).toEqual({ ttl_seconds: 60, charge_percent: 0 });
  expect(cacheOf({ seconds: "", percent: 10 })).toBeNull();
  expect(readCache({ ttl_seconds: 93_784, charge_percent: 0 })).toBe(
    "response cache: 1 d 2 h 3 min 4 s, repeats free",
  );
});

it("each outcome has a sentence", () => {
  const attempt = { provider: "acme", outcome: "ok", status: 200, started_ms: 0, duration_ms: 1 };
  const failed = { ...attempt, outcome: "429", status: 429 };
  const row = {
    status: "succeeded",
    http_status: 200,
    provider: "acme",
    error: undefined,
    cost: "0.00125",
    attempts: [attempt],
    changed: 0,
  };
  const zeta = { ...row, provider: "zeta", attempts: [failed, { ...attempt, provider: "zeta" }] };
  const refused = { ...row, status: "failed", http_status: 404, cost: "0", attempts: [] };
  for (const [told, sentence] of [
    [row, "Answered by acme. Charged 0.00125 USD."],
    [
      { ...zeta, changed: 2 },
      "Answered by zeta, after acme failed. Charged 0.00125 USD. 2 parameters were changed.",
    ],
    [
      { ...refused, error: "model_not_found" },
      "Refused by the gateway with model_not_found: no provider was asked. Nothing was charged.",
    ],
    [
      { ...refused, error: "upstream_error", attempts: [failed, failed], changed: 1 },
      "Failed with upstream_error after 2 attempts; the last was acme. Nothing was charged. One parameter was changed.",
    ],
    [
      { ...row, status: "client_closed" },
      "The caller disconnected before the end. Charged 0.00125 USD.",
    ],
    [{ ...refused, status: "expired" }, "Ended as expired. Nothing was charged."],
    [
      { ...row, attempts: [], isCached: true, cost: "0" },
      "Answered from the cache of its key, with an earlier answer of acme. Nothing was charged.",
    ],
    [
      { ...refused, error: "hook_refused", hooks: [{ hook: "guard", outcome: "refused" }] },
      "Refused by the hook guard: no provider was asked. Nothing was charged.",
    ],
    [
      { ...refused, error: "hook_failed", hooks: [{ hook: "guard", outcome: "failed" }] },
      "Refused because the hook guard gave no answer: no provider was asked. Nothing was charged.",
    ],
  ] as const) {
    expect(sentencesOf(told)).toBe(sentence);
  }
});

it("the requested and the sent body are compared field by field", () => {
  const marks = (asked: string | null, sent: string | null) =>
    comparisonOf(asked, sent)?.map(({ field, mark }) => `${field} ${mark}`);
  expect(
    marks(
      '{"model":"a","max_tokens":5,"top_k":2,"messages":[{"role":"user","content":"Hi"}],"stop":[]}',
      '{"model":"b","max_completion_tokens":5,"messages":[{"role":"user","content":"Hi"}],"stop":[]}',
    ),
  ).toEqual([
    "model changed",
    "max_tokens dropped",
    "top_k dropped",
    "messages.0.role same",
    "messages.0.content same",
    "stop same",
    "max_completion_tokens added",
  ]);
  // A number as text is not a number, and cut bodies are not compared.
  expect(marks('{"n":1}', '{"n":"1"}')).toEqual(["n changed"]);
  for (const other of [null, "", '{"n":']) expect(marks('{"n":1}', other)).toBeUndefined();
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(comparisonOf(text, text)!.every(({ mark }) => mark === "same")).toBe(true);
    }),
  );
});

it("a key that refuses every call is not shown as active", () => {
  const now = new Date("2026-11-26T08:00:00Z");
  const caps = { daily: "5", weekly: null, monthly: null, total: "20", hard: false };
  const free = { daily: "1", weekly: null, monthly: null, total: "0.000000001" };
  const key = { status: "active", expires_at: null, spend_caps: caps, remaining: free } as const;
  for (const [change, standing] of [
    [{}, { word: "active" }],
    [{ expires_at: "2026-11-26T08:00:00.001Z" }, { word: "active" }],
    [{ expires_at: "2026-11-26T08:00:00Z" }, { word: "expired", more: "2026-11-26T08:00:00Z" }],
    [
      { remaining: { ...free, total: "0" } },
      { word: "cap reached", more: "Total: 20 USD are spent" },
    ],
    [
      { remaining: { ...free, daily: "-0.5" } },
      { word: "cap reached", more: "Today: 5 USD are spent" },
    ],
    [{ status: "revoked", expires_at: "2026-11-25T08:00:00Z" }, { word: "revoked" }],
    [{ status: "disabled", remaining: { ...free, total: "0" } }, { word: "disabled" }],
  ] as const)
    expect([change, keyStateOf({ ...key, ...change }, now)]).toEqual([change, standing]);
});
