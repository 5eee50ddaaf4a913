/** The canonical whole answer. Requirements: CONV. */
import type { Part, UpstreamProtocol } from "./request.ts";
import type { Usage } from "../../base/usage.ts";

/**
 * Why the model stopped, and the vendor's own word for it.
 * `tool_calls` is derived from the presence of calls where the protocol has no word of its own (CONV-717).
 */
export interface Finish {
  readonly reason: "stop" | "length" | "tool_calls" | "content_filter" | "error";
  readonly raw?: string | undefined;
  /** The stop sequence that matched, where the vendor tells. */
  readonly stopSequence?: string | undefined;
  /** Why, in the vendor's words for people, beside an answer that it stopped or never gave. */
  readonly explanation?: string | undefined;
}

export interface CanonicalResponse {
  /** The protocol of the upstream that answered. */
  readonly protocol: UpstreamProtocol;
  /** The upstream's id of the answer. */
  readonly id: string;
  /** Unix seconds; 0 where the vendor does not tell. */
  readonly createdAt: number;
  /** Reasoning, text, refusal, tool call and media parts, in order. */
  readonly content: readonly Part[];
  readonly finish: Finish;
  /** Absent when the upstream reported none: then the gateway estimates and says so. */
  readonly usage?: Usage | undefined;
}
