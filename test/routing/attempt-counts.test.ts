/**
 * The counts of attempts that a gateway keeps until it adds them to the shared counts: bounded, however many fail.
 * docs/routing.md.
 */
import { expect, it } from "vitest";
import { hourOf, OutcomeCounts } from "../../src/routing/last-hour.ts";

const providers = (count: number): string[] => Array.from({ length: count }, (_, at) => `c${at}`);

it("counts attempts and failures by provider, the most frequent failure first", () => {
  const counts = new OutcomeCounts();
  counts.add("one");
  counts.add("one", { code: "500", message: "first" });
  counts.add("one", { code: "429" });
  counts.add("one", { code: "429", message: "slow down" });
  counts.add("one", { code: "429" });
  counts.add("other");
  const hour = hourOf(counts.take());
  expect(hour.get("one")).toEqual({
    calls_last_hour: 5,
    errors_last_hour: [
      { code: "429", count: 3, last_message: "slow down" },
      { code: "500", count: 1, last_message: "first" },
    ],
  });
  expect(hour.get("other")).toEqual({ calls_last_hour: 1, errors_last_hour: [] });
  expect(counts.take()).toEqual([]);
});

it("attempts that the gateway ended, such as for a client that left, count as attempts and not as failures", () => {
  const counts = new OutcomeCounts();
  counts.add("one", { code: "aborted", message: "the gateway closed the connection" });
  counts.add("one", { code: "500" });
  const { errors_last_hour: errors, calls_last_hour: calls } = hourOf(counts.take()).get("one")!;
  expect([calls, errors]).toEqual([2, [{ code: "500", count: 1, last_message: null }]]);
});

it("counts that could not be stored are merged back, and the newest message stays", () => {
  const counts = new OutcomeCounts();
  counts.add("one", { code: "500", message: "old" });
  const taken = counts.take();
  counts.add("one", { code: "500", message: "new" });
  counts.giveBack(taken);
  expect(counts.take()).toEqual([
    { provider: "one", outcome: "500", attempts: 2, lastMessage: "new" },
  ]);
});

it("the last message is cut to 300 characters, and characters that a database cannot store are replaced", () => {
  const counts = new OutcomeCounts();
  counts.add("one", { code: "500", message: `\0\ud800${"x".repeat(400)}` });
  const [counted] = counts.take();
  expect(counted!.lastMessage).toBe(`\ufffd\ufffd${"x".repeat(298)}`);
});

it("counts thirty outcomes by name, and all others together as `other`", () => {
  const counts = new OutcomeCounts();
  for (const code of providers(40)) counts.add("one", { code });
  counts.add("one");
  const { errors_last_hour: errors, calls_last_hour: calls } = hourOf(counts.take()).get("one")!;
  expect([calls, errors.length]).toEqual([41, 31]);
  expect(errors[0]).toEqual({ code: "other", count: 10, last_message: null });
});
