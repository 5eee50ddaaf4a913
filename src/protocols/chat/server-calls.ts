/**
 * Calls that Claude's servers made, such as a web search. LiteLLM lists them among the calls of a chat answer. For callers of other protocols
 * they are left out: agents would run a tool that they do not have, and do not know that it is done.
 */
import type { SseEvent } from "../../base/sse.ts";
import type { BlockId, CanonicalEvent } from "../canonical/events.ts";
import { reasonWithCalls, type CanonicalResponse, type Finish } from "../canonical/response.ts";
import type { Transducer } from "../codec.ts";
import { isOwnCall } from "./complete-call.ts";

const isOwn = ({ id }: { readonly id: string }): boolean => isOwnCall({ id });

const endedWith = (finish: Finish, hasCalls: boolean): Finish => ({
  ...finish,
  reason: reasonWithCalls(finish.reason, hasCalls),
});

/** Returns a whole answer without these calls; the same one if it has none. */
export function withoutServerCalls(response: CanonicalResponse): CanonicalResponse {
  const { content, finish } = response;
  const kept = content.filter((part) => part.type !== "tool_call" || isOwn(part));
  if (kept.length === content.length) return response;
  const hasCalls = kept.some(({ type }) => type === "tool_call");
  return { ...response, content: kept, finish: endedWith(finish, hasCalls) };
}

/** The same for a stream. */
export function hideServerCalls(
  decoder: Transducer<SseEvent, CanonicalEvent>,
): Transducer<SseEvent, CanonicalEvent> {
  const hidden = new Set<BlockId>();
  let hasCalls = false;
  const take = (event: CanonicalEvent): CanonicalEvent[] => {
    if (event.type === "tool_call_start") {
      if (!isOwn(event)) hidden.add(event.block);
      else hasCalls = true;
    }
    if ("block" in event && hidden.has(event.block)) return [];
    return event.type === "finish" && hidden.size > 0
      ? [{ ...event, finish: endedWith(event.finish, hasCalls) }]
      : [event];
  };
  return {
    ...decoder,
    push: (input) => decoder.push(input).flatMap(take),
    end: (why) => decoder.end(why).flatMap(take),
  };
}
