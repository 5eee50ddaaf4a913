/** Of a stream nothing of its request is needed once its first frame is out: nobody else is asked any more. */
import type { Hooks } from "../hooks/index.ts";
import { codecs, type ProtocolName, type Route } from "../protocols/index.ts";
import type { AnyCall } from "./context.ts";
import { heardBy } from "./hooks.ts";
import type { Keeper } from "./keep.ts";
import type { Candidate } from "./prepare.ts";

/** Who has the request of a call. */
interface Holders {
  readonly call: AnyCall;
  readonly candidates: readonly Candidate[];
  readonly keeper: Keeper | undefined;
  readonly hooks: Hooks | undefined;
}

/**
 * Makes all of them forget it, and gives back what was counted for it; not where its converted answer repeats some of it.
 * @returns false where it stays: it is kept, or a hook hears of it when the call is over
 */
export function letGo({ call, candidates, keeper, hooks }: Holders, route: Route): boolean {
  if (keeper !== undefined || (hooks !== undefined && heardBy(hooks, call))) return false;
  for (const candidate of candidates) candidate.forget?.();
  const isEchoed = route.kind === "converted" && codecs[call.protocol as ProtocolName].echoes;
  call.body.release(isEchoed === true ? undefined : call.lease);
  return true;
}
