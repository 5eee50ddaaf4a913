/** When a lane checks its keys again, and that immediate work does not wait for a pause. docs/ledger.md "Batches". */
import { beforeEach, expect, it } from "vitest";
import type { Batch, BatchRow } from "../../src/ledger/batch.ts";
import { lingerMs } from "../../src/ledger/key-use.ts";
import { Lane, systemLaneClock } from "../../src/ledger/lane.ts";
import { idleRetryMs } from "../../src/ledger/refusal.ts";

const call = { id: "a", workspaceId: "w", keyId: "k", keyRotation: 0, amountNano: 5n };

let nowMs = 0;
let paused: { readonly work: () => void; readonly ms: number }[] = [];
let answers: ((batch: Batch) => readonly BatchRow[])[] = [];
let lane: Lane;
const granted = ({ targets }: Batch): readonly BatchRow[] =>
  targets.map(({ need, keep }, index) => ({
    place: index + 1,
    allowance: (need ?? 0n) + keep,
    refusal: null,
    at: null,
  }));

beforeEach(() => {
  nowMs = 0;
  paused = [];
  answers = [];
  lane = new Lane({
    gateway: "g",
    lane: 1,
    leaseMs: 1_000,
    send: (batch) => Promise.resolve((answers.shift() ?? granted)(batch)),
    clock: {
      now: () => nowMs,
      later: (work, ms) => void (ms === 0 ? setImmediate(work) : paused.push({ work, ms })),
    },
  });
});

/** Ends all pauses. Returns the pauses that follow, in milliseconds. */
async function endPauses(): Promise<readonly number[]> {
  const due = paused;
  paused = [];
  nowMs += lingerMs;
  for (const { work } of due) work();
  for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
  return paused.map(({ ms }) => ms);
}

it("a lane checks its keys every 60 ms, however many batches it sends, and never without keys", async () => {
  for (let index = 0; index < 3; index += 1) {
    await lane.admit(call);
    await lane.end(call, 3n);
  }
  await lane.admit(call);
  expect(paused).toMatchObject([{ ms: lingerMs }]);
  expect([await endPauses(), await endPauses()]).toEqual([[lingerMs], [lingerMs]]);
  await lane.end(call, 3n);
  expect([await endPauses(), await endPauses()]).toEqual([[], []]);
});

it("a lane soon asks again for a call that waits for idle headroom", async () => {
  await lane.admit(call);
  paused = [];
  const room = { available: 1n, rooms: [], caps: [], idle: 9n };
  answers = [() => [{ place: 1, allowance: 5n, refusal: null, at: new Date(), ...room }]];
  let isAdmitted = false;
  const admitted = lane.admit({ ...call, id: "b" })!.then(() => (isAdmitted = true));
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  expect(paused.map(({ ms }) => ms)).toContain(idleRetryMs);
  expect(isAdmitted).toBe(false);
  await endPauses();
  await admitted;
});

it("a pause of the lane's clock takes its time, and work without a pause runs at once", async () => {
  const done: string[] = [];
  const since = performance.now();
  await new Promise<void>((resolve) => {
    systemLaneClock.later(() => {
      done.push("paused");
      resolve();
    }, 30);
    systemLaneClock.later(() => void done.push("at once"), 0);
    // The lane's timers are unreferenced: only this timer keeps the process alive.
    setTimeout(() => undefined, 60);
  });
  expect(done).toEqual(["at once", "paused"]);
  expect(performance.now() - since).toBeGreaterThanOrEqual(29);
});

it.each([
  ["longer with each lost connection", ["57P01", "57P01", "57P01"], [50, 100, 200]],
  ["a moment after each account that was locked", ["55P03", "55P03"], [1, 1]],
])("T68: a lane pauses %s", async (_how, codes, expected) => {
  answers = codes.map((code) => () => {
    throw Object.assign(new Error(code), { code });
  });
  void lane.admit(call);
  const pauses: number[] = [];
  for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
  while (answers.length > 0 || pauses.length < codes.length) {
    pauses.push(...paused.map(({ ms }) => ms));
    await endPauses();
  }
  expect(pauses).toEqual(expected);
});
