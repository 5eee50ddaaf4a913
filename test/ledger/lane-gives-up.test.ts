/** For how long calls of a lane wait for a database that is away. docs/ledger.md "Batches". */
import { expect, it } from "vitest";
import type { Batch, BatchRow } from "../../src/ledger/batch.ts";
import { Lane } from "../../src/ledger/lane.ts";
import { reserveRetryMs, settleRetryMs } from "../../src/storage/index.ts";

const call = { id: "a", workspaceId: "w", keyId: "k", keyRotation: 0, amountNano: 5n };
const granted = ({ targets }: Batch): readonly BatchRow[] =>
  targets.map(({ need, keep }, index) => ({
    place: index + 1,
    allowance: (need ?? 0n) + keep,
    refusal: null,
    at: null,
  }));

it.each([
  [reserveRetryMs, ["let in", "written"]],
  [reserveRetryMs + 1, ["database_unavailable", "written"]],
  [settleRetryMs, ["database_unavailable", "written"]],
  [settleRetryMs + 1, ["database_unavailable", "database_unavailable"]],
])("T68: a lane gives up what waits for longer than it may: after %d ms", async (ms, expected) => {
  let nowMs = 0;
  let isAway = false;
  const send = async (batch: Batch): Promise<readonly BatchRow[]> => {
    if (!isAway) return granted(batch);
    isAway = false;
    nowMs += ms;
    throw Object.assign(new Error("away"), { code: "57P01" });
  };
  // Pauses take no time, except for those that check idle keys.
  const later = (work: () => void, pauseMs: number) => void (pauseMs !== 60 && setImmediate(work));
  const clock = { now: () => nowMs, later };
  const lane = new Lane({ gateway: "g", lane: 1, leaseMs: 1_000, send, clock });
  await lane.admit(call);
  isAway = true;
  const outcome = (work: Promise<void> | undefined, done: string) =>
    Promise.resolve(work).then(
      () => done,
      ({ code }: { code: string }) => code,
    );
  const ended = outcome(lane.end(call, 3n), "written");
  const asked = outcome(lane.admit({ ...call, id: "b", amountNano: 50n }), "let in");
  expect(await Promise.all([asked, ended])).toEqual(expected);
});
