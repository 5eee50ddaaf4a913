/** A worker whose supervisor does not answer: it reports its own readiness, but never its own counts as those of all. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { MetricFamily } from "../../src/base/metric-family.ts";
import { createLink } from "../../src/cli/workers/link.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const newLink = () =>
  createLink(
    { number: 1, count: 2, host: "127.0.0.1", port: 0, configPath: undefined },
    { send: () => undefined, receive: () => undefined },
  );

it("metrics of one worker alone are no answer: lower sums would look like a restart, and rates would count everything again", async () => {
  const own = vi.fn<() => Promise<MetricFamily[]>>(() => Promise.resolve([]));
  const failed = newLink()
    .joinMetrics(own)
    .catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await failed).toMatchObject({ code: "overloaded" });
  expect(own).not.toHaveBeenCalled();
});

it("the readiness of one worker alone is an answer", async () => {
  const answer = newLink().ready(true);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await answer).toEqual({ isReady: true });
});
