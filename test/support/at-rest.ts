/**
 * After its last test a file has come to rest: what goes on in each turn of the event loop takes a whole processor from all files
 * that run after it, and no test fails.
 */
import { afterAll } from "vitest";
import { eventually } from "./patience.ts";

/** A loop that has something to do in each turn never waits; one whose servers still close waits most of the time. */
const busyMax = 0.9;

/** Resolves once the event loop has waited between two looks; rejects where it does not within `withinMs`. */
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
