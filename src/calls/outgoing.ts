/**
 * Requests as they are sent. The first is written as soon as nothing but money can refuse the call: its bytes may wait, while what they
 * were made of takes several times their memory, and the collector of garbage would move it again and again.
 */
import { textBody, type CallerHeaders } from "../upstream/index.ts";
import type { CallContext } from "./context.ts";
import { withChanges } from "./hooks.ts";
import type { Candidate } from "./prepare.ts";
import { waitsAsBytes, writeBody, type WrittenRequest } from "./write-body.ts";

/** Writes a request, and frees what it was made of. */
function write(context: CallContext, candidate: Candidate): WrittenRequest {
  const { call, keeper } = context;
  const { provider, offer } = candidate;
  const route = candidate.route();
  const notes = withChanges(call.changes, candidate.notes());
  const sent = textBody(route.body, {
    provider,
    protocol: offer.protocol,
    model: offer.upstreamModel,
    stream: call.stream,
    caller: callerHeaders(context, candidate),
  });
  const source = route.kind === "direct" ? call.body.source : undefined;
  keeper?.sending(sent, provider, source);
  const body = writeBody(sent, { source, lease: call.lease });
  context.discardDerived();
  return { body, notes };
}

/** Writes it before the call is let in; not what is kept, because a request that is never sent is not kept as one that was. */
export function writeAhead(context: CallContext, candidate: Candidate): void {
  if (context.keeper === undefined && waitsAsBytes(context.call))
    candidate.written = write(context, candidate);
}

/** What is sent: what was written ahead, once; else it is written now. */
export function takeWritten(context: CallContext, candidate: Candidate): WrittenRequest {
  const { written } = candidate;
  candidate.written = undefined;
  return written ?? write(context, candidate);
}

/** What the caller's headers say is about a body of its own protocol. */
export const callerHeaders = ({ call }: CallContext, candidate: Candidate): CallerHeaders =>
  candidate.route().kind === "direct" ? call.callerHeaders : {};
