/** Work that a test leaves in the event loop is found after its file. */
import { expect, it } from "vitest";
import { atRest } from "../support/at-rest.ts";

it("a test file that leaves an endless loop in the event loop fails, and one that leaves a timer does not", async () => {
  const timer = setInterval(() => {}, 1);
  await atRest(1_000);
  clearInterval(timer);
  let isRunning = true;
  const turn = (): void => void (isRunning && setImmediate(turn));
  turn();
  await expect(atRest(100)).rejects.toThrow("each turn of the event loop");
  isRunning = false;
  await atRest(1_000);
});
