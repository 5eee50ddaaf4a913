/**
 * Checks that the event loop is idle after a file's last test. Work that is left in each turn of the loop takes a whole processor
 * from all later files, and no test fails.
 */
import { afterAll } from "vitest";
import { eventually } from "./patience.ts";

/** A loop with work in each turn never waits. One whose servers still close waits most of the time. */
const busyMax = 0.9;

/** Resolves once the event loop has waited between two checks; rejects if it does not within `withinMs`. */
export async function atRest(withinMs: number): Promise<void> {
  let last = performance.eventLoopUtilization();
  const hasWaited = (): boolean => {
    const { utilization } = performance.eventLoopUtilization(last);
    last = performance.eventLoopUtilization();
    return utilization < busyMax;
  };
  const what = "this file leaves nothing behind that each turn of the event loop does";
  await eventually(hasWaited, what, withinMs);
}

afterAll(() => atRest(5_000));
