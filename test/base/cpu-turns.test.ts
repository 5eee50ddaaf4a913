/** CPU-bound work takes turns: short work gets a moment of each round of the event loop; long work is followed by pauses as long. */
import { describe, expect, it } from "vitest";
import { CpuTurns } from "../../src/base/cpu-turns.ts";

/** Keeps the process busy. */
function work(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

/** The number of rounds of the event loop while `takers` turns without work are taken. */
async function roundsOf(takers: number): Promise<number> {
  const turns = new CpuTurns();
  let rounds = 0;
  let isOver = false;
  const count = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(Array.from({ length: takers }, async () => turns.take()));
  isOver = true;
  return rounds;
}

describe("the turns of CPU-bound work", () => {
  it("cost work that takes no time few rounds of the event loop", async () => {
    const counts: number[] = [];
    // If the process waits for its processor meanwhile, that looks like long work, which causes a pause. That does not happen
    // five times in a row.
    for (let tries = 0; tries < 5; tries += 1) counts.push(await roundsOf(50));
    // One round for each would be fifty; a timer between them would be thousands.
    expect(Math.min(...counts)).toBeLessThan(20);
  });

  it("give short work a moment of each round, with other work in between", async () => {
    const turns = new CpuTurns();
    const order: string[] = [];
    let isOver = false;
    const other = (): void => {
      order.push("other");
      if (!isOver) setImmediate(other);
    };
    setImmediate(other);
    await Promise.all(
      Array.from({ length: 30 }, async () => {
        await turns.take();
        // Work in later promise callbacks counts to the same turn.
        await Promise.resolve();
        work(3);
        order.push("work");
      }),
    );
    isOver = true;
    // A turn lasts 8 ms: two pieces of 3 ms fit, and the third ends it.
    expect(order.join(" ")).toContain("work work");
    expect(order.join(" ")).not.toContain("work work work work");
  });

  it("pause after long work for as long as it took", async () => {
    const turns = new CpuTurns();
    const ends: number[] = [];
    const begins: number[] = [];
    await Promise.all(
      Array.from({ length: 3 }, async () => {
        await turns.take();
        begins.push(performance.now());
        work(30);
        ends.push(performance.now());
      }),
    );
    for (const at of [1, 2]) expect(begins[at]! - ends[at - 1]!).toBeGreaterThan(25);
  });
});
