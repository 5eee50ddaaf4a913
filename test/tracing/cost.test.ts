/**
 * The processor time of tracing for each call: its two spans, from their start to the sent bytes. It is 5 to 10 µs on a busy
 * machine, where a whole answer takes 190 µs or more (docs/monitoring.md). The SDK's spans and serializer took 20 to 30.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { Measured } from "./cost-child.ts";

const program = fileURLToPath(new URL("cost-child.ts", import.meta.url));

it("the spans of a call cost less than 12 microseconds of processor time", async () => {
  const measuring = fork(program);
  // Without a message the process has failed; its exit code then replaces the measurement.
  const [message] = await Promise.race([once(measuring, "message"), once(measuring, "exit")]);
  const { costUs, dropped } = message as Measured;
  expect(costUs).toBeLessThan(12);
  expect(dropped).toBe(0);
});
