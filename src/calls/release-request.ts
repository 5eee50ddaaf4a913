/**
 * Frees the memory of a request, in two steps. Once it is sent, everything but its bytes is freed: an answer may take minutes. The
 * values made from the bytes take several times their memory, and can be made again. Once the first frame of a stream is out, the
 * bytes are freed too, because no failover follows.
 */
import type { Hooks } from "../hooks/index.ts";
import { codecs, type ProtocolName, type Route } from "../protocols/index.ts";
import type { AnyCall } from "./context.ts";
import { isNotified } from "./hooks.ts";
import type { Keeper } from "./keep.ts";
import type { Candidate } from "./prepare.ts";
import { waitsAsBytes } from "./write-body.ts";

/** Every object that holds the request of a call. */
interface Holders {
  readonly call: AnyCall;
  readonly candidates: readonly Candidate[];
  readonly keeper: Keeper | undefined;
  readonly hooks: Hooks | undefined;
}

/** True if the workspace keeps requests word for word, or a hook after the call gets the request. */
const isHeld = ({ call, keeper, hooks }: Holders): boolean =>
  keeper !== undefined || (hooks !== undefined && isNotified(hooks, call));

/** Frees the values parsed and converted from the bytes of a large request; the next access makes them again. */
export function discardDerived(holders: Holders): void {
  const { call, candidates } = holders;
  if (!waitsAsBytes(call) || isHeld(holders)) return;
  for (const candidate of candidates) candidate.discardDerived();
  call.body.discardDerived();
}

/**
 * Frees the request permanently, and returns its bytes to the budget, unless its converted answer repeats parts of it.
 * @returns false if the request is held until the call ends
 */
export function releaseRequest(holders: Holders, route: Route): boolean {
  if (isHeld(holders)) return false;
  const { call, candidates } = holders;
  for (const candidate of candidates) candidate.release?.();
  const isEchoed =
    route.kind === "converted" && codecs[call.protocol as ProtocolName].echoesRequest;
  call.body.release(isEchoed === true ? undefined : call.lease);
  return true;
}
