/** The state of one key in a gateway, and what its next batch asks for, decision by decision. docs/ledger.md. */
import { beforeEach, describe, expect, it } from "vitest";
import { decide } from "../../src/ledger/decide.ts";
import { KeyUse } from "../../src/ledger/key-use.ts";
import { mayFitSoon, type Answer } from "../../src/ledger/refusal.ts";
import { askedIn, backlogOf, entryOf, next, rowOf, targetOf } from "./batches.ts";
import { refusalIn } from "./open-calls.ts";

let key: KeyUse;
beforeEach(() => {
  key = new KeyUse({ workspaceId: "w", keyId: "k", keyRotation: 0 });
});

let outcomesSeen: string[] = [];
const addWaitingCalls = (of: KeyUse, ...bounds: bigint[]) => {
  for (const bound of bounds)
    of.waiting.push({
      bound,
      since: 0,
      resolve: () => void outcomesSeen.push("let in"),
      reject: (error) => void outcomesSeen.push(refusalIn(error)!),
    });
};
describe("the headroom of a key", () => {
  it("is the recent use, weighted less with age and gone after 100 ms, and at least a quarter above the last call", () => {
    key.begin(40n, 0);
    key.begin(10n, 50);
    expect(key.wantedHeadroom(50)).toBe(30n);
    key.begin(10n, 150);
    expect(key.wantedHeadroom(150)).toBe(12n);
  });

  it("at an even pace is the use of 100 ms", () => {
    for (let nowMs = 0; nowMs < 1_000; nowMs += 1) key.begin(10n, nowMs);
    expect(key.wantedHeadroom(999)).toBe(999n);
  });

  it("ends 60 ms after the last call, and then idle allowance is returned", () => {
    key.begin(8n, 1_000);
    key.granted = 20n;
    expect(key.wantedHeadroom(1_059)).toBe(10n);
    expect(key.hasIdle(1_059)).toBe(false);
    expect(key.wantedHeadroom(1_060)).toBe(0n);
    expect(key.hasIdle(1_060)).toBe(true);
  });

  it("is kept while a batch is in flight, as far as it is wanted and available", () => {
    key.granted = 20n;
    key.headroomGranted = true;
    key.checkedAt = 0;
    expect(key.keep(15n)).toBe(15n);
    expect(key.granted).toBe(15n);
    expect(key.keep(30n)).toBe(15n);
    key.headroomGranted = false;
    expect(key.keep(30n)).toBe(0n);
    expect(key.granted).toBe(0n);
  });
});

it("a call is admitted at once if its bound is free, no call waits, and the key was checked within 50 ms and since its last change", () => {
  key.granted = 8n;
  key.checkedAt = 1_000;
  key.begin(3n, 1_000);
  expect([key.admits(5n, 1_049), key.admits(6n, 1_049)]).toEqual([true, false]);
  expect(key.admits(5n, 1_050)).toBe(false);
  key.changedAt = 1_000;
  expect(key.admits(5n, 1_049)).toBe(false);
  key.changedAt = 999;
  expect(key.admits(5n, 1_049)).toBe(true);
  addWaitingCalls(key, 1n);
  expect(key.admits(5n, 1_049)).toBe(false);
});

it("CAP-03: a key keeps no headroom after a change, and each batch asks for the headroom that it keeps", () => {
  key.begin(8n, 1_000);
  key.inUse = 0n;
  key.granted = 20n;
  key.headroomGranted = true;
  key.checkedAt = 1_000;
  expect(next([key], 1_001).targets).toMatchObject([{ keep: 10n, headroom: 1n }]);
  key.granted = 20n;
  key.changedAt = 1_000;
  expect(next([key], 1_001).targets).toMatchObject([{ keep: 0n, headroom: 10n }]);
});

it("a key is unused some time after its last call if nothing is granted, in use, waiting or to be sent", () => {
  key.begin(5n, 1_000);
  expect(key.isUnused(1_060)).toBe(false);
  const call = entryOf("a", { bound: 5n, charge: 5n, since: 1_000 });
  key.end(call);
  expect(key.isUnused(1_060)).toBe(false);
  key.close([call]);
  expect(key.isUnused(1_059)).toBe(false);
  expect(key.isUnused(1_060)).toBe(true);
  key.granted = 1n;
  expect(key.isUnused(1_060)).toBe(false);
  key.granted = 0n;
  addWaitingCalls(key, 1n);
  expect(key.isUnused(1_060)).toBe(false);
});

describe("a batch", () => {
  it("asks for the waiting calls that fit into the known room and the free part, and skips the others", () => {
    key.room = 10n;
    key.granted = 5n;
    addWaitingCalls(key, 12n, 20n, 3n);
    expect(next([key]).targets).toMatchObject([
      { asked: [{ bound: 12n }, { bound: 3n }], need: 15n },
    ]);
  });

  it("asks for the wanted headroom, less the part that stays in use meanwhile", () => {
    key.begin(8n, 1_000);
    key.granted = 12n;
    key.headroomGranted = true;
    key.checkedAt = 1_000;
    addWaitingCalls(key, 1n);
    expect(next([key], 1_001).targets).toMatchObject([
      { need: 9n, use: 12n, keep: 4n, headroom: 6n },
    ]);
  });

  it("asks for all waiting calls if none fits, so that the database refuses them", () => {
    key.room = 10n;
    addWaitingCalls(key, 12n, 20n);
    expect(next([key])).toMatchObject({ targets: [{ need: 32n }] });
    expect(askedIn(next([key]))).toBe(2);
  });

  it("with few keys takes half of the waiting calls, and at least sixteen", () => {
    addWaitingCalls(key, ...Array.from({ length: 20 }, () => 1n));
    expect(next([key]).targets).toMatchObject([{ need: 16n }]);
    expect(askedIn(next([key]))).toBe(16);
    addWaitingCalls(key, ...Array.from({ length: 80 }, () => 1n));
    const backlog = backlogOf([key]);
    expect(backlog.nextTargets(0, false)[0]!.asked).toHaveLength(50);
    expect(backlog.isEmpty).toBe(false);
  });

  it("with five keys takes all waiting calls, up to 500", () => {
    const keys = Array.from(
      { length: 5 },
      (_one, index) => new KeyUse({ workspaceId: "w", keyId: `k${index}`, keyRotation: 0 }),
    );
    for (const one of keys) addWaitingCalls(one, ...Array.from({ length: 20 }, () => 1n));
    expect(askedIn(next(keys))).toBe(100);
    // A batch takes 500 calls at most.
    for (const one of keys) addWaitingCalls(one, ...Array.from({ length: 100 }, () => 1n));
    expect(next(keys).targets.map(({ asked }) => asked.length)).toEqual([120, 120, 120, 120, 20]);
  });

  it("after a refused batch takes one entry, or one call of one key, in turn", () => {
    const other = new KeyUse({ workspaceId: "w", keyId: "o", keyRotation: 0 });
    addWaitingCalls(key, 1n, 1n);
    addWaitingCalls(other, 1n);
    key.ended.push(entryOf("a"));
    other.ended.push(entryOf("b"));
    const backlog = backlogOf([key, other]);
    const taken = () => {
      const targets = backlog.nextTargets(0, true);
      const what = targets.map((target) => [
        target.key.name.keyId,
        ...target.entries.map(({ id }) => id),
        target.asked.length,
      ]);
      // Admit all calls of this batch.
      for (const { key: served, entries, asked } of targets) {
        served.close(entries);
        served.waiting.splice(0, asked.length);
        backlog.requeue(served, 0);
      }
      return what;
    };
    expect([taken(), taken(), taken(), taken(), taken(), taken()]).toEqual([
      [["k", "a", 0]],
      [["o", "b", 0]],
      [["k", 1]],
      [["o", 1]],
      [["k", 1]],
      [],
    ]);
  });

  it("takes keys in turn: a key with more than fits into one batch comes after the others in the next", () => {
    const keys = Array.from(
      { length: 6 },
      (_one, index) => new KeyUse({ workspaceId: "w", keyId: `k${index}`, keyRotation: 0 }),
    );
    const fill = () => {
      while (keys[0]!.ended.length < 600) keys[0]!.ended.push(entryOf("a"));
    };
    for (const one of keys.slice(1)) one.ended.push(entryOf("b"));
    fill();
    const backlog = backlogOf(keys);
    const counts = () =>
      backlog.nextTargets(0, false).map(({ key: served, entries }) => {
        served.close(entries);
        backlog.requeue(served, 0);
        return entries.length;
      });
    expect(counts()).toEqual([500]);
    fill();
    expect(counts()).toEqual([1, 1, 1, 1, 1, 495]);
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
    outcomesSeen = [];
    for (const tell of decide(targetOf(key, 0n), rowOf(answer), 0, nowMs)) tell();
    return outcomesSeen;
  };

  it("admits calls that fit, and refuses the others", () => {
    key.granted = 10n;
    addWaitingCalls(key, 10n, 5n);
    expect(outcomes(room(0n), 0)).toEqual(["let in", "insufficient_balance"]);
    expect(key.waiting).toEqual([]);
  });

  it("keeps a call waiting for a moment if it would fit once others return idle headroom, and then refuses it", () => {
    addWaitingCalls(key, 5n);
    expect(outcomes(room(1n, { idle: 4n }), 100)).toEqual([]);
    expect(key.waitsForHeadroom).toBe(true);
    expect(key.waiting).toHaveLength(1);
    expect(outcomes(room(1n, { idle: 4n }), 60_000)).toEqual(["insufficient_balance"]);
    expect(key.waitsForHeadroom).toBe(false);
  });

  it("reports headroom if all of the need, the kept part and the headroom is granted", () => {
    const target = targetOf(key, 5n, { keep: 2n, headroom: 3n });
    const roomyWith = (granted: bigint, row = rowOf(null)) => {
      key.granted = granted;
      decide(target, row, 0, 0);
      return key.headroomGranted;
    };
    expect([roomyWith(10n), roomyWith(9n), roomyWith(10n, rowOf(room(0n)))]).toEqual([
      true,
      false,
      false,
    ]);
    key.granted = 5n;
    decide(targetOf(key, 5n), rowOf(null), 0, 0);
    expect(key.headroomGranted).toBe(false);
  });

  it("does not wait for idle headroom if a call was admitted or refused meanwhile", () => {
    key.granted = 3n;
    addWaitingCalls(key, 5n, 3n);
    expect(outcomes(room(1n, { idle: 4n }), 100)).toEqual(["let in"]);
    expect(key.waitsForHeadroom).toBe(false);
  });

  it("admits a call that came after its batch only if the key is trusted at that time", () => {
    const admitted = (change: Partial<KeyUse>) => {
      const late = new KeyUse(key.name);
      late.granted = 5n;
      addWaitingCalls(late, 5n);
      late.waiting = late.waiting.map((call) => ({ ...call, since: 11 }));
      const settlers = decide(targetOf(Object.assign(late, change), 0n), rowOf(null), 10, 59);
      return [settlers.length, late.inUse, late.waiting.length];
    };
    expect(admitted({})).toEqual([1, 5n, 0]);
    expect(admitted({ changedAt: 10 })).toEqual([0, 0n, 1]);
    expect(admitted({ changedAt: 9 })).toEqual([1, 5n, 0]);
    expect(admitted({ granted: 4n })).toEqual([0, 0n, 1]);
  });

  it("refuses no call that came after its batch", () => {
    key.checkedAt = 10;
    addWaitingCalls(key, 5n);
    key.waiting = key.waiting.map((call) => ({ ...call, since: 11 }));
    expect(decide(targetOf(key, 0n), rowOf(room(0n)), 10, 12)).toEqual([]);
    expect(key.waiting).toHaveLength(1);
  });

  it("stores the smallest room of balance and caps", () => {
    const caps = { rooms: [null, 4n, 7n], caps: [null, 50n, 50n] };
    decide(targetOf(key, 0n), rowOf(room(9n, caps)), 0, 0);
    expect(key.room).toBe(4n);
    decide(targetOf(key, 0n), rowOf(room(-3n)), 0, 0);
    expect(key.room).toBe(-3n);
    decide(targetOf(key, 0n), rowOf(null), 0, 0);
    expect(key.room).toBeUndefined();
  });

  it("counts idle headroom of others only if it is enough for the balance and every cap", () => {
    expect(mayFitSoon(room(1n, { idle: 4n }), 5n)).toBe(true);
    expect(mayFitSoon(room(1n, { idle: 4n }), 6n)).toBe(false);
    expect(mayFitSoon(room(1n, { idle: 4n, rooms: [null, 0n] }), 5n)).toBe(false);
    expect(mayFitSoon(room(9n), 5n)).toBe(false);
    expect(mayFitSoon(room(9n, { idle: 1n, refusal: "key_revoked" }), 5n)).toBe(false);
  });
});
