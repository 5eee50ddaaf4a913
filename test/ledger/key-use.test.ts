/** What a gateway keeps of one key, and what its next batch asks for, decision by decision. docs/ledger.md. */
import { beforeEach, describe, expect, it } from "vitest";
import { collect, type OpenEntry } from "../../src/ledger/collect.ts";
import { decide } from "../../src/ledger/decide.ts";
import { KeyUse } from "../../src/ledger/key-use.ts";
import { fitsButForIdle, type Answer } from "../../src/ledger/refusal.ts";
import { refusalIn } from "./open-calls.ts";

let key: KeyUse;
beforeEach(() => {
  key = new KeyUse("w", "k", 0);
});

let told: string[] = [];
const waits = (of: KeyUse, ...bounds: bigint[]) => {
  for (const bound of bounds)
    of.waiting.push({
      bound,
      since: 0,
      resolve: () => void told.push("let in"),
      reject: (error) => void told.push(refusalIn(error)!),
    });
};
const next = (keys: KeyUse[], more: Partial<Parameters<typeof collect>[0]> = {}) =>
  collect({ nowMs: 0, keys, entries: [], restore: false, careful: false, ...more });
const entryOf = (of: KeyUse, id: string): OpenEntry => ({
  key: of,
  id,
  charge: 1n,
  bound: 1n,
  draw: 1n,
  since: 0,
  resolve: () => undefined,
  reject: () => undefined,
});

describe("headroom", () => {
  it("is what the last 100 ms used, or the 100 ms before; at least a quarter above the last call", () => {
    for (const nowMs of [0, 50, 100]) key.begin(10n, nowMs);
    expect(key.wanted(100)).toBe(30n);
    key.begin(10n, 101);
    expect(key.wanted(101)).toBe(30n);
    key.begin(40n, 150);
    expect(key.wanted(150)).toBe(50n);
  });

  it("knows nothing of the window before where nothing was called for one", () => {
    for (let count = 0; count < 5; count += 1) key.begin(10n, 0);
    key.begin(10n, 200);
    expect(key.wanted(200)).toBe(50n);
    for (let count = 0; count < 5; count += 1) key.begin(10n, 200);
    key.begin(10n, 401);
    expect(key.wanted(401)).toBe(12n);
  });

  it("ends 60 ms after the last call, and with it what is idle is given back", () => {
    key.begin(8n, 1_000);
    key.granted = 20n;
    expect(key.wanted(1_059)).toBe(10n);
    expect(key.hasIdle(1_059)).toBe(false);
    expect(key.wanted(1_060)).toBe(0n);
    expect(key.hasIdle(1_060)).toBe(true);
  });

  it("is kept while a batch is on its way as far as it is wanted and there", () => {
    key.granted = 20n;
    key.roomy = true;
    key.checked(0, key.epoch);
    expect(key.keep(15n)).toBe(15n);
    expect(key.granted).toBe(15n);
    expect(key.keep(30n)).toBe(15n);
    key.roomy = false;
    expect(key.keep(30n)).toBe(0n);
    expect(key.granted).toBe(0n);
  });
});

it("CAP-03: nothing is kept once something changed, and what is kept is asked about in each batch", () => {
  key.begin(8n, 1_000);
  key.end(8n, 0n, 1_000);
  key.granted = 20n;
  key.roomy = true;
  key.checked(1_000, key.epoch);
  key.unsure = true;
  expect(next([key], { nowMs: 1_001 }).items).toMatchObject([{ keep: 10n, headroom: 1n }]);
  key.granted = 20n;
  key.distrust();
  expect(next([key], { nowMs: 1_001 }).items).toMatchObject([{ keep: 0n, headroom: 10n }]);
});

it("a key is forgotten ten minutes after its last call, and not while anything is open", () => {
  key.begin(5n, 1_000);
  key.end(5n, 0n, 1_000);
  expect(key.isUnused(601_000)).toBe(false);
  expect(key.isUnused(601_001)).toBe(true);
  waits(key, 1n);
  expect(key.isUnused(601_001)).toBe(false);
});

describe("a batch", () => {
  it("asks for what fits into the known room and what is free, passing over what does not", () => {
    key.room = 10n;
    key.granted = 5n;
    waits(key, 12n, 20n, 3n);
    const { items, asked } = next([key]);
    expect({ asked, need: items[0]!.need }).toEqual({ asked: 2, need: 15n });
  });

  it("asks for all where nothing fits, so that the database refuses", () => {
    key.room = 10n;
    waits(key, 12n, 20n);
    expect(next([key])).toMatchObject({ asked: 2, items: [{ need: 32n }] });
  });

  it("of few keys takes half of those who wait, and sixteen at least", () => {
    waits(key, ...Array.from({ length: 20 }, () => 1n));
    expect(next([key])).toMatchObject({ asked: 16, items: [{ need: 16n }] });
    waits(key, ...Array.from({ length: 80 }, () => 1n));
    const { asked, later } = next([key]);
    expect(asked).toBe(50);
    expect(later.has(key)).toBe(true);
  });

  it("of five keys takes all", () => {
    const keys = Array.from({ length: 5 }, (_one, index) => new KeyUse("w", `k${index}`, 0));
    for (const one of keys) waits(one, ...Array.from({ length: 20 }, () => 1n));
    expect(next(keys).asked).toBe(100);
  });

  it("after one that failed takes one entry, or one call of one key, or restores alone", () => {
    const other = new KeyUse("w", "o", 0);
    waits(key, 1n, 1n);
    waits(other, 1n);
    const entries = [entryOf(key, "a"), entryOf(other, "b")];
    const one = next([key, other], { entries, careful: true });
    expect(one.entries.map(({ id }) => id)).toEqual(["a"]);
    expect(one.asked).toBe(0);
    expect(one.later).toEqual(new Set([key, other]));
    const call = next([key, other], { careful: true });
    expect(call).toMatchObject({
      asked: 1,
      items: [{ key: { keyId: "k" }, need: 1n }],
      entries: [],
    });
    const restoring = next([key, other], { entries, careful: true, restore: true });
    expect(restoring.entries).toEqual([]);
  });
});

describe("an answer", () => {
  const room = (available: bigint, more: Partial<Answer> = {}): Answer => ({
    refusal: null,
    available,
    rooms: [],
    caps: [],
    idle: 0n,
    at: new Date(0),
    ...more,
  });
  const outcomes = (answer: Answer, nowMs: number) => {
    told = [];
    for (const tell of decide(key, answer, 0, nowMs)) tell();
    return told;
  };

  it("lets in who fits, and refuses who does not", () => {
    key.granted = 10n;
    waits(key, 10n, 5n);
    expect(outcomes(room(0n), 0)).toEqual(["let in", "insufficient_balance"]);
    expect(key.waiting).toEqual([]);
  });

  it("keeps for a moment who would fit if others gave back what they do not use, and no longer", () => {
    waits(key, 5n);
    expect(outcomes(room(1n, { idle: 4n }), 100)).toEqual([]);
    expect(key.retryAt).toBe(120);
    expect(key.waiting).toHaveLength(1);
    expect(outcomes(room(1n, { idle: 4n }), 60_000)).toEqual(["insufficient_balance"]);
    expect(key.retryAt).toBe(0);
  });

  it("does not wait to ask again where somebody was let in or refused meanwhile", () => {
    key.granted = 3n;
    waits(key, 5n, 3n);
    expect(outcomes(room(1n, { idle: 4n }), 100)).toEqual(["let in"]);
    expect(key.retryAt).toBe(0);
  });

  it("remembers the least room of balance and caps, and none below 0", () => {
    decide(key, room(9n, { rooms: [null, 4n, 7n], caps: [null, 50n, 50n] }), 0, 0);
    expect(key.room).toBe(4n);
    decide(key, room(-3n), 0, 0);
    expect(key.room).toBe(0n);
    decide(key, room(9n, { at: null }), 0, 0);
    expect(key.room).toBeUndefined();
  });

  it("what others do not use helps only where it is enough for the balance and every cap", () => {
    expect(fitsButForIdle(room(1n, { idle: 4n }), 5n)).toBe(true);
    expect(fitsButForIdle(room(1n, { idle: 4n }), 6n)).toBe(false);
    expect(fitsButForIdle(room(1n, { idle: 4n, rooms: [null, 0n] }), 5n)).toBe(false);
    expect(fitsButForIdle(room(9n), 5n)).toBe(false);
    expect(fitsButForIdle(room(9n, { idle: 1n, refusal: "key_revoked" }), 5n)).toBe(false);
  });
});
