/** Small rules of the console's pages, by tables: what is read of addresses, prices, attempts and refusals. */
import { expect, it } from "vitest";
import { beganMs, isAnswered } from "../../console/src/pages/requests/one/sentence.ts";

it("an attempt of a task is placed by its time, and one that succeeded has answered", () => {
  const callAt = "2026-11-26T14:00:00.000Z";
  const asked = { provider: "acme", outcome: "succeeded", started_at: "2026-11-26T14:00:01.500Z" };
  const call = { provider: "acme", outcome: "ok", status: 200, started_ms: 20, duration_ms: 1 };
  expect([asked, call].map((one) => [beganMs(one, callAt), isAnswered(one)])).toEqual([
    [1500, true],
    [20, true],
  ]);
  expect(isAnswered({ ...call, outcome: "429" })).toBe(false);
});
