/** Runs one step of retention: a transaction of its own, in one process at a time, so that an interruption leaves nothing half done. */
import type { Database } from "../storage/index.ts";
import { underLock } from "./parts.ts";
import { requestLogStep } from "./request-log.ts";
import { deliveriesStep, tasksStep } from "./finished-tasks.ts";

/** Days that records are kept; absent: for ever. The configuration's `retention` has this type. */
export interface Retention {
  /**
   * Days by which the database's date is ahead of this machine's; 0 if absent. One of the clocks is wrong then, and what is young by
   * either is kept.
   */
  readonly clockAheadDays?: number | undefined;
  readonly requestLogDays?: number | undefined;
  readonly deliveriesDays?: number | undefined;
  readonly tasksDays?: number | undefined;
  /** True if the request log is exported, and so kept until then. */
  readonly isLogExported: boolean;
}

/**
 * Runs the next step. All time is the database's, except for `clockAheadDays`.
 * @returns how much went: rows or parts; 0 where nothing is left to do now, or another process is at it
 */
export async function retentionStep(database: Database, retention: Retention): Promise<number> {
  const { isLogExported: isExported, clockAheadDays = 0 } = retention;
  const longer = (days: number | undefined) => days && days + clockAheadDays;
  const requestLogDays = longer(retention.requestLogDays);
  const deliveriesDays = longer(retention.deliveriesDays);
  const tasksDays = longer(retention.tasksDays);
  const done = await underLock(database, async (tx) => {
    let gone = 0;
    if (requestLogDays !== undefined)
      gone = await requestLogStep(tx, { days: requestLogDays, isExported });
    if (gone === 0 && tasksDays !== undefined) gone = await tasksStep(tx, tasksDays);
    if (gone === 0 && deliveriesDays !== undefined) gone = await deliveriesStep(tx, deliveriesDays);
    return gone;
  });
  return done ?? 0;
}
