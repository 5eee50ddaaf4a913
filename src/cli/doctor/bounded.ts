/** Runs a check of the doctor with a deadline, and turns errors into findings. */
import { withTimeout } from "../../base/timeouts.ts";
import { adviceOn, isTransient } from "../../storage/index.ts";
import { failed, type Finding } from "./findings.ts";

const deadlineMs = 30_000;

type Found = Finding | Finding[] | Promise<Finding[]>;

/** Returns the findings of a check, or that it found nothing in time. Never throws. */
export async function bounded(name: string, run: () => Found): Promise<Finding[]> {
  const late = () => new Error(`no answer within ${deadlineMs / 1000} seconds`);
  try {
    return [await withTimeout(Promise.resolve(run()), deadlineMs, late)].flat();
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    // An opened database may still fail in a later query: its disk is full, or it stops.
    const fix = isTransient(error) ? adviceOn(error).fix : "run it again, and look at the log";
    return [failed(name, message, fix)];
  }
}
