/** A hold that others have no room for at this moment, and may have at the next. docs/ledger.md "Admission". */
import { setTimeout as sleep } from "node:timers/promises";
import { idleRetryMs, idleWaitMs, type HoldRefusal } from "../ledger/index.ts";

/** What a try came to: what it was for, or what refuses it. */
export type Tried<Made> = { readonly made: Made } | { readonly refusal: Refusal };
/** As the ledger refuses a hold, and what else refuses its call: an `Idempotency-Key` that is taken. */
export type Refusal = Omit<HoldRefusal, "error"> & { readonly error: Error };

/**
 * Tries until a hold fits: it is tried again, for `idleWaitMs`, where it would if others returned what they have set aside and do not use.
 * @throws the error of what refuses it in the end; what `attempt` throws
 */
export async function untilFits<Made>(attempt: () => Promise<Tried<Made>>): Promise<Made> {
  const untilMs = performance.now() + idleWaitMs;
  for (;;) {
    const tried = await attempt();
    if ("made" in tried) return tried.made;
    if (!tried.refusal.mayFitSoon || performance.now() > untilMs) throw tried.refusal.error;
    await sleep(idleRetryMs);
  }
}
