/**
 * What of a request is let go, and when. Once it is sent, all but its bytes: an answer may take minutes, and what was made of them takes
 * several times their memory. Nothing of it is needed once the first frame of a stream is out: nobody else is asked any more.
 */
import type { Hooks } from "../hooks/index.ts";
import { codecs, type ProtocolName, type Route } from "../protocols/index.ts";
import type { AnyCall } from "./context.ts";
import { heardBy } from "./hooks.ts";
import type { Keeper } from "./keep.ts";
import type { Candidate } from "./prepare.ts";
import { waitsAsBytes } from "./write-body.ts";

/** Who has the request of a call. */
interface Holders {
  readonly call: AnyCall;
  readonly candidates: readonly Candidate[];
  readonly keeper: Keeper | undefined;
  readonly hooks: Hooks | undefined;
}

/** It is kept as it was, or a hook hears of it when the call is over. */
const isHeld = ({ call, keeper, hooks }: Holders): boolean =>
  keeper !== undefined || (hooks !== undefined && heardBy(hooks, call));

/** Makes all of them let go of what was read and made of its bytes, until somebody asks again. */
export function letRest(holders: Holders): void {
  const { call, candidates } = holders;
  if (!waitsAsBytes(call) || isHeld(holders)) return;
  for (const candidate of candidates) candidate.rest();
  call.body.rest();
}

/**
 * Makes all of them forget it, and gives back what was counted for it; not where its converted answer repeats some of it.
 * @returns false where it stays
 */
export function letGo(holders: Holders, route: Route): boolean {
  if (isHeld(holders)) return false;
  const { call, candidates } = holders;
  for (const candidate of candidates) candidate.forget?.();
  const isEchoed = route.kind === "converted" && codecs[call.protocol as ProtocolName].echoes;
  call.body.release(isEchoed === true ? undefined : call.lease);
  return true;
}
