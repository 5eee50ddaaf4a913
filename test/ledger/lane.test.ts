/** A lane, answer by answer: what it resends, what moves to a lane of its own, what a close waits for. docs/ledger.md "Batches". */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Batch, BatchRow } from "../../src/ledger/batch.ts";
import { lingerMs, type KeyUse } from "../../src/ledger/key-use.ts";
import { Backlog } from "../../src/ledger/backlog.ts";
import { Lane, type LaneClock } from "../../src/ledger/lane.ts";
import { TextCalls } from "../../src/ledger/text-calls.ts";
import { eventually } from "../support/patience.ts";
import { entriesIn } from "./batches.ts";
import { OpenCalls } from "./open-calls.ts";

const leaseMs = 1_000;
type Answer = (batch: Batch) => readonly BatchRow[] | Promise<readonly BatchRow[]>;

let nowMs = 0;
let test = 0;
/** Pauses take no time. A lane stops with its test: otherwise it would check its keys in each turn of the event loop. */
const clock: LaneClock = {
  now: () => nowMs,
  later: (work) => {
    const own = test;
    setImmediate(() => own === test && work());
  },
};
let sent: Batch[] = [];
/** The answers to the next batches. After the last one, every batch is granted. */
let answers: Answer[] = [];
const granted: Answer = ({ targets }) =>
  targets.map(({ need, keep }, index) => ({
    place: index + 1,
    allowance: (need ?? 0n) + keep,
    refusal: null,
    at: null,
  }));
const fenced: Answer = () => [];
const failing = (code: string): Answer => {
  return () => Promise.reject(Object.assign(new Error(code), { code }));
};
const busy: Answer = (batch) =>
  batch.targets.map((_, index) => ({ place: index + 1, allowance: 0n, refusal: "busy", at: null }));
const send = async (batch: Batch): Promise<readonly BatchRow[]> => {
  sent.push(batch);
  // Stop a lane that sends batches without end.
  if (sent.length > 500) return new Promise(() => undefined);
  return (answers.shift() ?? granted)(batch);
};
afterEach(() => (test += 1));
beforeEach(() => {
  nowMs = 0;
  sent = [];
  answers = [];
});

describe("a lane", () => {
  const call = { id: "a", workspaceId: "w", keyId: "k", keyRotation: 0, amountNano: 5n };
  const movedKeys: string[][] = [];
  let lane: Lane;
  let key: KeyUse;
  beforeEach(() => {
    movedKeys.length = 0;
    const onBusy = (workspaceId: string) => {
      const apart = new Backlog();
      apart.adopt(workspaceId, lane.backlog, nowMs);
      movedKeys.push(Array.from(apart.keys.values(), ({ name }) => name.keyId));
    };
    lane = new Lane({ gateway: "g", lane: 1, leaseMs, send, clock, onBusy });
    key = lane.backlog.keyOf(call);
  });
  /** Sends the lane's first batch, which restores, and forgets it. */
  const begin = async (): Promise<void> => {
    await lane.admit(call);
    sent = [];
  };

  it("resends a batch that a later number overtook, and confirms its entry only when it is written", async () => {
    await begin();
    answers = [fenced];
    await lane.end(call, 3n);
    expect(sent.map((batch) => entriesIn(batch).map(({ id }) => id))).toEqual([["a"], ["a"]]);
    expect(sent[1]!.number).toBe(sent[0]!.number + 1);
  });

  it("takes no lease by its heartbeat before its first batch, and renews it after that", async () => {
    lane.heartbeat();
    await lane.close();
    expect(sent).toEqual([]);
    await begin();
    lane.heartbeat();
    await lane.close();
    expect(sent).toMatchObject([{ targets: [] }]);
  });

  it("resends a batch whose answer came when the lease may have expired", async () => {
    await begin();
    answers = [
      (batch) => {
        nowMs += leaseMs;
        return granted(batch);
      },
    ];
    await lane.end(call, 3n);
    expect(sent.map((batch) => entriesIn(batch).length)).toEqual([1, 1]);
  });

  it("waits for locked accounts after a lost connection, as before", async () => {
    await begin();
    answers = [failing("57P01")];
    await lane.end(call, 3n);
    expect(sent.map(({ skipLocked }) => skipLocked)).toEqual([false, false]);
  });

  it("skips locked accounts after it has waited for one, and gives those away", async () => {
    await begin();
    answers = [failing("55P03"), busy];
    void lane.end(call, 3n);
    await eventually(() => movedKeys.length > 0, "the key is given away");
    expect(sent.map(({ skipLocked }) => skipLocked)).toEqual([false, true]);
    expect(movedKeys).toEqual([["k"]]);
    await lane.admit({ ...call, workspaceId: "v", keyId: "l" });
    expect(sent.at(-1)).toMatchObject({
      skipLocked: false,
      targets: [{ key: { name: { keyId: "l" } } }],
    });
  });

  it("reserves for an entry no more than the bound of its call, whatever it cost", async () => {
    await begin();
    const posted = lane.end(call, 9n);
    expect(key.pending).toBe(5n);
    await posted;
    expect([key.pending, entriesIn(sent.at(-1)!)[0]]).toMatchObject([
      0n,
      { charge: 9n, bound: 5n },
    ]);
  });

  it("CAP-05: checks every key of a workspace with the database after a call cost more than its bound", async () => {
    const beside = { ...call, keyId: "l" };
    const elsewhere = { ...call, workspaceId: "v" };
    const keys = [call, beside, elsewhere].map((name) => lane.backlog.keyOf(name));
    await Promise.all([call, beside, elsewhere].map(async (each) => lane.admit(each)));
    const trusted = () => keys.map((each) => each.isTrusted(nowMs));
    nowMs += 1;
    expect(trusted()).toEqual([true, true, true]);
    await lane.end(beside, 5n);
    expect(trusted()).toEqual([true, true, true]);
    await lane.end(elsewhere, null);
    await lane.end(call, 6n);
    expect(trusted()).toEqual([false, false, true]);
  });

  it("CAP-09: returns what another lane had reserved for its keys, once it learns that its own lease lapsed", async () => {
    await begin();
    const lapsed = { place: 0, allowance: 0n, refusal: "lapsed", at: new Date() } as const;
    answers = [
      () => [lapsed as unknown as BatchRow, { place: 1, allowance: 7n, refusal: null, at: null }],
    ];
    await lane.end(call, 3n);
    await eventually(() => sent.length > 1, "it restores");
    expect(sent[1]).toMatchObject({
      restore: true,
      targets: [{ key: { name: { keyId: "k" } }, need: 0n }],
    });
    await eventually(() => key.granted === 0n, "nothing is set aside");
  });

  it("restores without entries if the database refuses one, and then finds that entry", async () => {
    await begin();
    const bad = { ...call, id: "bad" };
    await lane.admit(bad);
    sent = [];
    const refusing: Answer = (batch) =>
      entriesIn(batch).some(({ id }) => id === "bad") ? failing("22P05")(batch) : granted(batch);
    const lapsed = { place: 0, allowance: 0n, refusal: "lapsed", at: new Date() } as const;
    answers = [() => [lapsed as unknown as BatchRow], ...Array.from({ length: 8 }, () => refusing)];
    const ends = await Promise.allSettled([lane.end(call, 3n), lane.end(bad, 3n)]);
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    const restoring = sent.filter(({ restore }) => restore);
    expect(restoring.map((batch) => entriesIn(batch).length)).toEqual([2, 0]);
  });

  it("asks for nothing more once an answer shows the result of a batch whose answer was lost", async () => {
    await begin();
    answers = [failing("08006")];
    await lane.end(call, null);
    expect(sent.map(({ targets }) => targets[0]!.need)).toEqual([0n, 0n]);
    expect(lane.backlog.isEmpty).toBe(true);
  });
});

describe("an item that the database refuses", () => {
  it("fails only its own call, and what may be reserved for its key is returned", async () => {
    const lane = new Lane({ gateway: "g", lane: 1, leaseMs, send, clock });
    const call = { id: "a", workspaceId: "w", keyId: "k", keyRotation: 0, amountNano: 5n };
    await lane.admit(call);
    sent = [];
    // The first answer is lost: that batch may have reserved something.
    answers = [failing("08006"), failing("22003"), failing("22003")];
    const [large, small] = await Promise.allSettled([
      lane.admit({ ...call, amountNano: 50n }),
      lane.admit({ ...call, amountNano: 2n }),
    ]);
    expect([large.status, small.status]).toEqual(["rejected", "fulfilled"]);
    await lane.end(call, 5n);
    answers = [failing("08006"), failing("22003")];
    await expect(lane.admit({ ...call, amountNano: 50n })).rejects.toMatchObject({ code: "22003" });
    await eventually(() => lane.backlog.isEmpty, "all is sent");
    expect(sent.at(-1)!.targets).toMatchObject([{ asked: [], need: 2n }]);
  });

  it("is searched for in batches of one item, for no longer than the failed batch had items", async () => {
    const lane = new Lane({ gateway: "g", lane: 1, leaseMs, send, clock });
    const calls = ["k", "l", "m"].map((keyId) => {
      return { id: keyId, workspaceId: "w", keyId, keyRotation: 0, amountNano: 5n };
    });
    await Promise.all(calls.map((call) => lane.admit(call) ?? Promise.resolve()));
    sent = [];
    answers = [failing("22003")];
    await Promise.all(calls.map((call) => lane.end(call, 3n)));
    const things = sent.map(({ targets }) => targets.length);
    expect(things.slice(0, 4)).toEqual([3, 1, 1, 1]);
    await lane.close();
    for (const call of calls) lane.backlog.keyOf(call).begin(5n, nowMs);
    sent = [];
    await Promise.all(calls.map((call) => lane.end(call, 3n)));
    expect(sent.map(({ targets }) => targets.length)).toEqual([3]);
  });
});

describe("a workspace whose account is locked elsewhere", () => {
  const call = { workspaceId: "w", keyId: "k", keyRotation: 0 };
  const lanesOf = (entry: string) =>
    sent.filter((batch) => entriesIn(batch).some(({ id }) => id === entry)).map(({ lane }) => lane);
  const lanesAsked = (bound: bigint) =>
    sent
      .filter((batch) =>
        batch.targets.some(({ asked }) => asked.some((one) => one.bound === bound)),
      )
      .map(({ lane }) => lane);
  const hasSent = (lane: number) => sent.some((batch) => batch.lane === lane);
  let textCalls: TextCalls;
  let calls: OpenCalls;
  /** Call `a` ends while the account is locked. Batch 1 waits in vain, batch 2 skips it, and `apart` answers batch 3. */
  const endLocked = async (apart: Answer, time = clock) => {
    textCalls = new TextCalls({ leaseMs, send, clock: time });
    calls = new OpenCalls(textCalls);
    await calls.begin({ ...call, id: "a", amountNano: 5n });
    answers = [failing("55P03"), busy, apart];
    return { ended: calls.end("a", 3n) };
  };

  it("goes on in a lane of its own, and comes back when that lane has succeeded", async () => {
    await (
      await endLocked(granted)
    ).ended;
    expect(lanesOf("a")).toEqual([1, 1, 2]);
    await calls.begin({ ...call, id: "b", amountNano: 5n });
    await calls.end("b", 3n);
    expect(lanesOf("b")).toEqual([1]);
  });

  /** Checks for idle headroom run when the test calls `runChecks`. */
  const dueChecks: (() => void)[] = [];
  const slow: LaneClock = {
    ...clock,
    later: (work, ms) => void (ms === lingerMs ? dueChecks.push(work) : clock.later(work, ms)),
  };
  const runChecks = () => {
    for (const one of dueChecks.splice(0)) one();
  };

  it("returns its headroom in that lane", async () => {
    textCalls = new TextCalls({ leaseMs, send, clock: slow });
    calls = new OpenCalls(textCalls);
    await calls.begin({ ...call, id: "a", amountNano: 5n });
    await calls.begin({ ...call, keyId: "l", id: "b", amountNano: 5n });
    const headroom: Answer = (batch) =>
      [...(granted(batch) as readonly BatchRow[])].map((row) => ({ ...row, allowance: 9n }));
    answers = [headroom];
    await calls.end("b", 3n);
    // The headroom expires after the batch that waited in vain, so the next batch is the first one to return it.
    nowMs += 100;
    answers = [(batch) => (runChecks(), failing("55P03")(batch)), busy];
    await calls.end("a", 3n);
    const given = () =>
      sent.some(
        ({ lane, targets }) =>
          lane > 1 && targets.some(({ key, need }) => key.name.keyId === "l" && need === 0n),
      );
    await eventually(given, "the headroom goes back");
  });

  it("may be locked again after it has come back, and its first lane does not take it from the next", async () => {
    await (
      await endLocked(granted, slow)
    ).ended;
    await calls.begin({ ...call, id: "b", amountNano: 5n });
    let unlock: (() => void) | undefined;
    const locked = new Promise<void>((resolve) => (unlock = resolve));
    answers = [failing("55P03"), busy, (batch) => locked.then(() => granted(batch))];
    const ended = calls.end("b", 3n);
    await eventually(() => hasSent(3), "another lane has sent");
    runChecks();
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resume) => setImmediate(resume));
    const next = calls.begin({ ...call, id: "c", amountNano: 50n });
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resume) => setImmediate(resume));
    unlock!();
    await ended;
    expect(await next).toBe("reserved");
    expect(lanesAsked(50n)).toEqual([3]);
  });

  it("sends its next calls in that lane too", async () => {
    let unlock: (() => void) | undefined;
    const locked = new Promise<void>((resolve) => (unlock = resolve));
    const { ended } = await endLocked((batch) => locked.then(() => granted(batch)));
    await eventually(() => hasSent(2), "the lane of its own has sent");
    const next = calls.begin({ ...call, id: "c", amountNano: 50n });
    // The other lane would send within these turns.
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resume) => setImmediate(resume));
    unlock!();
    await ended;
    expect(await next).toBe("reserved");
    expect(lanesAsked(50n)).toEqual([2]);
  });

  it("delays a close, after which nothing that is sent takes a lease", async () => {
    let unlock: (() => void) | undefined;
    const locked = new Promise<void>((resolve) => (unlock = resolve));
    const { ended } = await endLocked((batch) => locked.then(() => granted(batch)));
    await eventually(() => hasSent(2), "the lane of its own has sent");
    let isClosed = false;
    const closed = textCalls.close().then(() => (isClosed = true));
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resume) => setImmediate(resume));
    expect(isClosed).toBe(false);
    unlock!();
    await closed;
    await ended;
    expect(lanesOf("a").at(-1)).toBe(2);
    sent = [];
    textCalls.heartbeat();
    await eventually(() => hasSent(1), "the lane has sent");
    expect(sent[0]).toMatchObject({ leaseMs: 0 });
  });
});

describe("a call whose work throws", () => {
  const call = { workspaceId: "w", keyId: "k", keyRotation: 0, amountNano: 5n };
  const broken = new Error("the vendor broke off");
  let textCalls: TextCalls;
  beforeEach(() => {
    textCalls = new TextCalls({ leaseMs, send, clock });
  });
  const fail = (id: string) => textCalls.spend({ ...call, id }, () => Promise.reject(broken));

  it("is voided before its error is passed on", async () => {
    await expect(fail("a")).rejects.toBe(broken);
    expect(entriesIn(sent.at(-1)!)).toMatchObject([{ id: "a", charge: null, bound: 5n }]);
  });

  it("keeps its error, whatever happens to the void", async () => {
    await expect(fail("a")).rejects.toBe(broken);
    const late = textCalls.spend({ ...call, id: "b" }, () => {
      answers = [failing("22021")];
      return Promise.reject(broken);
    });
    await expect(late).rejects.toBe(broken);
    expect(answers).toEqual([]);
  });

  it("T68: does not wait for an unreachable database", async () => {
    const calls = new OpenCalls(textCalls);
    const vendor = Promise.withResolvers<never>();
    let isIn = false;
    await calls.begin({ ...call, id: "a" });
    const failed = textCalls.spend({ ...call, id: "b" }, () => {
      isIn = true;
      return vendor.promise;
    });
    await eventually(() => isIn, "the call is let in");
    answers = [failing("08006"), () => new Promise(() => undefined)];
    void calls.end("a", 3n);
    await eventually(() => answers.length === 0, "the second sending");
    vendor.reject(broken);
    await expect(failed).rejects.toBe(broken);
  });
});
