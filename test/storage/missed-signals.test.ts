/** Values that stay in use while signals are missed are read again from time to time. T73. */
import { afterEach, expect, it, vi } from "vitest";
import type { Listener } from "../../src/storage/listener.ts";
import { createSignals } from "../../src/storage/signals.ts";
import { silentLog } from "../support/postgres.ts";

afterEach(() => void vi.useRealTimers());

it("T73: a gateway whose listener cannot connect, while its other connections work, reads every ten seconds", () => {
  vi.useFakeTimers();
  let isHealthy = false;
  let connected = (): void => undefined;
  const listener: Listener = {
    start: (_receive, reconnected) => void (connected = reconnected),
    healthy: () => isHealthy,
    name: () => undefined,
    close: async () => undefined,
    number: 1,
    absent: async () => [],
    listeners: async () => [],
  };
  const signals = createSignals({ query: async () => [] }, listener, silentLog);
  signals.subscribe("providers", () => undefined);
  let reads = 0;
  const end = signals.onMissed(() => (reads += 1));
  vi.advanceTimersByTime(9_999);
  expect(reads).toBe(0);
  vi.advanceTimersByTime(10_001);
  expect(reads).toBe(2);
  isHealthy = true;
  connected();
  expect(reads).toBe(3);
  vi.advanceTimersByTime(60_000);
  expect(reads).toBe(3);
  isHealthy = false;
  end();
  vi.advanceTimersByTime(60_000);
  expect(reads).toBe(3);
});
