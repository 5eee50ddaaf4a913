/** Retries a hold that does not fit beside the reservations of others now, but may soon. docs/ledger.md "Admission". */
import { setTimeout as sleep } from "node:timers/promises";
import { idleRetryMs, idleWaitMs, type HoldRefusal } from "../ledger/index.ts";

/** The result of a try: the thing that it made, or the refusal. */
export type Tried<Made> = { readonly made: Made } | { readonly refusal: Refusal };
/** A refusal of a hold by the ledger, or another refusal of its call: an `Idempotency-Key` that is taken. */
export type Refusal = Omit<HoldRefusal, "error"> & { readonly error: Error };

/**
 * Retries until a hold fits, for `idleWaitMs`, as long as it would fit if others returned their unused reservations.
 * @throws the error of the last refusal; the errors of `attempt`
 */
export async function retryUntilFits<Made>(attempt: () => Promise<Tried<Made>>): Promise<Made> {
  const untilMs = performance.now() + idleWaitMs;
  for (;;) {
    const tried = await attempt();
    if ("made" in tried) return tried.made;
    if (!tried.refusal.mayFitSoon || performance.now() > untilMs) throw tried.refusal.error;
    await sleep(idleRetryMs);
  }
}
