/**
 * Requests as they are sent. The first one is written as soon as only money can refuse the call. Its bytes can wait cheaply, while
 * the parsed values take several times their memory, and the garbage collector would move them repeatedly.
 */
import {
  acceptedHeaders,
  fitHostedClaude,
  textBody,
  type CallerHeaders,
} from "../upstream/index.ts";
import type { CallContext } from "./context.ts";
import { withChanges } from "./hooks.ts";
import type { Candidate } from "./prepare.ts";
import { waitsAsBytes, writeBody, type WrittenRequest } from "./write-body.ts";

/** Writes a request, and frees the values it was made from. */
function write(context: CallContext, candidate: Candidate): WrittenRequest {
  const { call, keeper } = context;
  const { provider, offer } = candidate;
  const route = candidate.route();
  const fitted =
    offer.protocol === "messages"
      ? fitHostedClaude(route.body, ownHeaders(context, candidate), provider.dialect)
      : { body: route.body, notes: [] };
  const notes = withChanges(call.changes, [...candidate.notes(), ...fitted.notes]);
  const sent = textBody(fitted.body, {
    provider,
    protocol: offer.protocol,
    model: offer.upstreamModel,
    stream: route.streams,
    caller: callerHeaders(context, candidate),
  });
  const source = route.kind === "direct" ? call.body.source : undefined;
  keeper?.sending(sent, provider, source);
  const body = writeBody(sent, { source, lease: call.lease });
  context.discardDerived();
  return { body, notes };
}

/** Writes a request before admission. Not for calls with a keeper: it would record a request that is never sent as sent. */
export function writeAhead(context: CallContext, candidate: Candidate): void {
  if (context.keeper === undefined && waitsAsBytes(context.call))
    candidate.written = write(context, candidate);
}

/** Returns the request written ahead, once; otherwise writes it now. */
export function takeWritten(context: CallContext, candidate: Candidate): WrittenRequest {
  const { written } = candidate;
  candidate.written = undefined;
  return written ?? write(context, candidate);
}

/** The caller's headers, only if the body is in the caller's own protocol: they describe that body. */
const ownHeaders = ({ call }: CallContext, candidate: Candidate): CallerHeaders =>
  candidate.route().kind === "direct" ? call.callerHeaders : {};

/** The same, with only the flags that the vendor accepts. */
export const callerHeaders = (context: CallContext, candidate: Candidate): CallerHeaders =>
  acceptedHeaders(ownHeaders(context, candidate), candidate.provider.dialect);
