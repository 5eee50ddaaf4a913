/** Work that blocks the process, in turn: short work in each round of the event loop, long work with pauses as long. */
import { describe, expect, it } from "vitest";
import { Turns } from "../../src/base/turns.ts";

/** Keeps the process busy. */
function work(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

describe("turns", () => {
  it("gives short work one round of the event loop each, and others run in between", async () => {
    const turns = new Turns();
    const order: string[] = [];
    let rounds = 0;
    let isOver = false;
    const count = (): void => {
      rounds += 1;
      order.push("other");
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        await turns.take();
        order.push("work");
      }),
    );
    isOver = true;
    // With a timer in between there are thousands of rounds.
    expect(rounds).toBeLessThan(120);
    expect(order.join(" ")).not.toContain("work work work");
  });

  it("pauses after long work for as long as it took", async () => {
    const turns = new Turns();
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
