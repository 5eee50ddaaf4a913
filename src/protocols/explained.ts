/** Shows the vendor's explanation for a blocked answer as a refusal, to callers whose protocol has refusals. */
import type { CanonicalEvent } from "./canonical/events.ts";
import type { Part } from "./canonical/request.ts";
import type { CanonicalResponse, Finish } from "./canonical/response.ts";

const refusalIn = ({ reason, explanation }: Finish): string | undefined =>
  reason === "content_filter" ? explanation : undefined;

/** Returns the content of an answer, with the explanation at its end. */
export function explained({ content, finish }: CanonicalResponse): readonly Part[] {
  const text = refusalIn(finish);
  return text === undefined ? content : [...content, { type: "refusal", text }];
}

/** The same for a stream: the events before its finish. */
export function explanationEvents(finish: Finish): CanonicalEvent[] {
  const text = refusalIn(finish);
  if (text === undefined) return [];
  const block = "explanation";
  return [
    { type: "refusal_start", block },
    { type: "refusal_delta", block, text },
    { type: "refusal_end", block },
  ];
}
