/**
 * After its last test a file has come to rest: what goes on in each turn of the event loop takes a whole processor from all files
 * that run after it, and no test fails.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll } from "vitest";
import { eventually } from "./patience.ts";

const lookMs = 10;
/** A loop that has something to do in each turn never waits; one whose servers still close waits most of the time. */
const busyMax = 0.9;

/** Resolves once the event loop waits most of the time; rejects where it does not within `withinMs`. */
export async function atRest(withinMs: number): Promise<void> {
  const isCalm = async (): Promise<boolean> => {
    const before = performance.eventLoopUtilization();
    await sleep(lookMs);
    return performance.eventLoopUtilization(before).utilization < busyMax;
  };
  await eventually(
    isCalm,
    "this file leaves nothing behind that each turn of the event loop does",
    withinMs,
  );
}

afterAll(() => atRest(5_000));
