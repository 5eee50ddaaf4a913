/** One step of retention at a time: a transaction of its own, by one process of all, so that whatever ends it leaves nothing half. */
import type { Database } from "../storage/index.ts";
import { alone } from "./parts.ts";
import { requestLogStep } from "./request-log.ts";
import { deliveriesStep, tasksStep } from "./trails.ts";

/** How many days are kept; what is absent is kept for ever. The configuration's `retention` fits. */
export interface Retention {
  readonly requestLogDays?: number | undefined;
  readonly deliveriesDays?: number | undefined;
  readonly tasksDays?: number | undefined;
  /** Whether the request log is exported, and so kept until it was. */
  readonly isLogExported: boolean;
}

/**
 * The next step of what there is to do. All time is the database's.
 * @returns how much went: rows or parts; 0 where nothing is left to do now, or another process is at it
 */
export async function retentionStep(database: Database, retention: Retention): Promise<number> {
  const { requestLogDays, deliveriesDays, tasksDays, isLogExported: isExported } = retention;
  const done = await alone(database, async (tx) => {
    let gone = 0;
    if (requestLogDays !== undefined)
      gone = await requestLogStep(tx, { days: requestLogDays, isExported });
    if (gone === 0 && tasksDays !== undefined) gone = await tasksStep(tx, tasksDays);
    if (gone === 0 && deliveriesDays !== undefined) gone = await deliveriesStep(tx, deliveriesDays);
    return gone;
  });
  return done ?? 0;
}
