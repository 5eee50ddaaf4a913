/** What a gateway counts of attempts at providers until it adds it to the counts of all: bounded however much goes wrong. docs/routing.md. */
import { expect, it } from "vitest";
import { hourOf, Unsaid } from "../../src/routing/last-hour.ts";

const providers = (count: number): string[] => Array.from({ length: count }, (_, at) => `c${at}`);

it("counts attempts and failures by provider, the most frequent failure first", () => {
  const unsaid = new Unsaid();
  unsaid.add("one");
  unsaid.add("one", { code: "500", message: "first" });
  unsaid.add("one", { code: "429" });
  unsaid.add("one", { code: "429", message: "slow down" });
  unsaid.add("one", { code: "429" });
  unsaid.add("other");
  const hour = hourOf(unsaid.take());
  expect(hour.get("one")).toEqual({
    calls_last_hour: 5,
    errors_last_hour: [
      { code: "429", count: 3, last_message: "slow down" },
      { code: "500", count: 1, last_message: "first" },
    ],
  });
  expect(hour.get("other")).toEqual({ calls_last_hour: 1, errors_last_hour: [] });
  expect(unsaid.take()).toEqual([]);
});

it("what could not be added counts on, and the newest words stay", () => {
  const unsaid = new Unsaid();
  unsaid.add("one", { code: "500", message: "old" });
  const taken = unsaid.take();
  unsaid.add("one", { code: "500", message: "new" });
  unsaid.giveBack(taken);
  expect(unsaid.take()).toEqual([
    { provider: "one", outcome: "500", attempts: 2, lastMessage: "new" },
  ]);
});

it("keeps words that a database can keep, cut", () => {
  const unsaid = new Unsaid();
  unsaid.add("one", { code: "500", message: `\0\ud800${"x".repeat(400)}` });
  const [counted] = unsaid.take();
  expect(counted!.lastMessage).toBe(`\ufffd\ufffd${"x".repeat(298)}`);
});

it("knows thirty outcomes by name, and the others together", () => {
  const unsaid = new Unsaid();
  for (const code of providers(40)) unsaid.add("one", { code });
  unsaid.add("one");
  const { errors_last_hour: errors, calls_last_hour: calls } = hourOf(unsaid.take()).get("one")!;
  expect([calls, errors.length]).toEqual([41, 31]);
  expect(errors[0]).toEqual({ code: "other", count: 10, last_message: null });
});
