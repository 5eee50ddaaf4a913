/** A check of the doctor's, with a deadline and without errors. */
import { inTime } from "../../base/in-time.ts";
import { adviceOn, isTransient } from "../../storage/index.ts";
import { failed, type Finding } from "./findings.ts";

const deadlineMs = 30_000;

type Found = Finding | Finding[] | Promise<Finding[]>;

/** What a check finds, or that it found nothing in time. It never throws. */
export async function bounded(name: string, run: () => Found): Promise<Finding[]> {
  const late = () => new Error(`no answer within ${deadlineMs / 1000} seconds`);
  try {
    return [await inTime(Promise.resolve(run()), deadlineMs, late)].flat();
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    // A database that was opened may fail in a later question: its disk is full, it stops.
    const fix = isTransient(error) ? adviceOn(error).fix : "run it again, and look at the log";
    return [failed(name, message, fix)];
  }
}
