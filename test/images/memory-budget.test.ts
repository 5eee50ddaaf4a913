/** Answers with pictures in the byte budget: they are billed, so they wait, and are not refused. docs/load.md "Bodies and memory". */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { PictureRoom } from "../../src/attempts/index.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

/** All answers together may use three quarters of it. */
const budgetBytes = 400_000;
const most = 300_000;

/** An answer whose head has arrived; by default with no expected size. */
function arriving(budget: ByteBudget, expected = 0) {
  const lease = budget.lease();
  lease.take(expected);
  const room = new PictureRoom(lease, expected);
  const seen = { waits: false, isGivenUp: false };
  room.onStart(() => (seen.isGivenUp = true));
  return {
    seen,
    onBytes: (bytes: number) => {
      const turn = room.onBytes(bytes);
      seen.waits = turn !== undefined;
      void turn?.then(() => (seen.waits = false));
    },
    /** Ends the answer, but not its call. */
    onEnd: (isWhole: boolean) => room.onEnd(isWhole),
    release: () => lease.release(),
  };
}

const turnsPassed = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("an answer with pictures", () => {
  it("counts bytes beyond its expected size until its call is over", () => {
    const budget = new ByteBudget(budgetBytes);
    const answer = arriving(budget, 50_000);
    for (const bytes of [30_000, 30_000, 150_000]) answer.onBytes(bytes);
    expect(budget.heldBytes).toBe(210_000);
    answer.onBytes(-100_000);
    expect(budget.heldBytes).toBe(110_000);
    answer.onEnd(true);
    expect(budget.heldBytes).toBe(110_000);
    answer.release();
    answer.onBytes(10_000);
    expect(budget.heldBytes).toBe(0);
  });

  it("releases its bytes at once if it was incomplete, so that another provider can be asked", () => {
    const budget = new ByteBudget(budgetBytes);
    const answer = arriving(budget, 50_000);
    answer.onBytes(150_000);
    answer.onEnd(false);
    expect(budget.heldBytes).toBe(50_000);
  });

  it("may exceed the budget alone, uncounted, so that small bodies keep their part; the next one follows at its end", async () => {
    const budget = new ByteBudget(budgetBytes);
    const [first, second, third] = [arriving(budget), arriving(budget), arriving(budget)];
    first.onBytes(most + 1_000);
    first.onBytes(5_000_000);
    expect([first.seen.waits, budget.heldBytes]).toEqual([false, most + 1_000]);
    second.onBytes(10_000);
    third.onBytes(10_000);
    expect([second.seen.waits, third.seen.waits]).toEqual([true, true]);
    budget.lease().take(50_000);
    first.onBytes(-5_000_000);
    expect(budget.heldBytes).toBe(most + 71_000);
    first.onEnd(true);
    await turnsPassed();
    // The first call keeps its picture until it was sent.
    expect([second.seen.waits, third.seen.waits]).toEqual([true, true]);
    const other = budget.lease();
    other.take(1_000);
    first.release();
    await turnsPassed();
    expect([second.seen.waits, third.seen.waits]).toEqual([false, false]);
    expect(budget.heldBytes).toBe(71_000);
  });

  it("waits for room, and continues in its turn when others release some", async () => {
    const budget = new ByteBudget(budgetBytes);
    const body = budget.lease();
    body.take(most - 10_000);
    const [first, second, third] = [arriving(budget), arriving(budget), arriving(budget)];
    for (const answer of [first, second, third]) answer.onBytes(20_000);
    first.release();
    await turnsPassed();
    expect([second.seen.waits, third.seen.waits]).toEqual([false, true]);
    body.release();
    await turnsPassed();
    expect(third.seen.waits).toBe(false);
  });

  it("is given up after ten silent seconds if others need room, unless it waits for room itself", async () => {
    const budget = new ByteBudget(budgetBytes);
    const [silent, waiting] = [arriving(budget), arriving(budget)];
    silent.onBytes(most + 10_000);
    vi.advanceTimersByTime(9_000);
    waiting.onBytes(20_000);
    expect(waiting.seen.waits).toBe(true);
    vi.advanceTimersByTime(60_000);
    const body = budget.lease();
    body.take(100_000);
    await turnsPassed();
    expect([silent.seen, waiting.seen]).toEqual([
      { waits: false, isGivenUp: true },
      { waits: false, isGivenUp: false },
    ]);
    expect(budget.heldBytes).toBe(120_000);
  });

  it("is not given up for silence once it is complete", () => {
    const budget = new ByteBudget(budgetBytes);
    const answer = arriving(budget);
    answer.onBytes(most);
    answer.onEnd(true);
    vi.advanceTimersByTime(60_000);
    const body = budget.lease();
    expect(() => body.take(150_000)).toThrow("under way");
    expect([answer.seen.isGivenUp, budget.heldBytes]).toEqual([false, most]);
  });

  it("holds nothing between two events of a stream, and may be silent then", () => {
    const budget = new ByteBudget(budgetBytes);
    const answer = arriving(budget);
    answer.onBytes(50_000);
    answer.onBytes(-50_000);
    vi.advanceTimersByTime(60_000);
    const body = budget.lease();
    body.take(most);
    expect(() => body.take(1_000)).toThrow("under way");
    expect(answer.seen.isGivenUp).toBe(false);
  });
});
