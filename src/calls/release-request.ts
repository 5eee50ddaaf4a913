/**
 * When the memory of a request is freed, in two steps. Once it is sent, everything but its bytes: an answer may take minutes, and what was
 * made of the bytes takes several times their memory; it can be made again. Once the first frame of a stream is out, the bytes too: no other
 * provider is asked after that.
 */
import type { Hooks } from "../hooks/index.ts";
import { codecs, type ProtocolName, type Route } from "../protocols/index.ts";
import type { AnyCall } from "./context.ts";
import { heardBy } from "./hooks.ts";
import type { Keeper } from "./keep.ts";
import type { Candidate } from "./prepare.ts";
import { waitsAsBytes } from "./write-body.ts";

/** Everything that holds the request of a call. */
interface Holders {
  readonly call: AnyCall;
  readonly candidates: readonly Candidate[];
  readonly keeper: Keeper | undefined;
  readonly hooks: Hooks | undefined;
}

/** The workspace keeps requests word for word, or a hook after the call gets it. */
const isHeld = ({ call, keeper, hooks }: Holders): boolean =>
  keeper !== undefined || (hooks !== undefined && heardBy(hooks, call));

/** Frees what was parsed and converted from the bytes of a large request; whoever asks for it again makes it anew. */
export function discardDerived(holders: Holders): void {
  const { call, candidates } = holders;
  if (!waitsAsBytes(call) || isHeld(holders)) return;
  for (const candidate of candidates) candidate.discardDerived();
  call.body.discardDerived();
}

/**
 * Frees the request for good, and returns its bytes to the budget, unless its converted answer repeats some of it.
 * @returns false where the request is held until the call is over
 */
export function releaseRequest(holders: Holders, route: Route): boolean {
  if (isHeld(holders)) return false;
  const { call, candidates } = holders;
  for (const candidate of candidates) candidate.release?.();
  const isEchoed = route.kind === "converted" && codecs[call.protocol as ProtocolName].echoes;
  call.body.release(isEchoed === true ? undefined : call.lease);
  return true;
}
