/** Why an answer was stopped, in its vendor's words, as the refusal that it is to callers who have a place for one. */
import type { CanonicalEvent } from "./canonical/events.ts";
import type { Part } from "./canonical/request.ts";
import type { CanonicalResponse, Finish } from "./canonical/response.ts";

const refusalIn = ({ reason, explanation }: Finish): string | undefined =>
  reason === "content_filter" ? explanation : undefined;

/** What an answer says, with these words at its end. */
export function explained({ content, finish }: CanonicalResponse): readonly Part[] {
  const text = refusalIn(finish);
  return text === undefined ? content : [...content, { type: "refusal", text }];
}

/** The same of a stream: what comes before its finish. */
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
