/** The canonical whole answer. Requirements: CONV. */
import type { Part, UpstreamProtocol } from "./request.ts";
import type { Usage } from "../../base/usage.ts";

/**
 * Why the model stopped, with the vendor's own word. If the protocol has no word for `tool_calls`, it is derived from the presence of calls
 * (CONV-717).
 */
export interface Finish {
  readonly reason: "stop" | "length" | "tool_calls" | "content_filter" | "error";
  readonly raw?: string | undefined;
  /** The stop sequence that matched, if the vendor reports it. */
  readonly stopSequence?: string | undefined;
  /** The vendor's explanation, in prose, for an answer that it stopped or refused. */
  readonly explanation?: string | undefined;
}

/**
 * Returns a vendor's reason as the calls of the answer show it: calls end an answer without another reason, and not every vendor says so.
 * `tool_calls` without a call is a vendor's mistake, on which Claude Code asks again and again.
 */
export const reasonWithCalls = (reason: Finish["reason"], hasCalls: boolean): Finish["reason"] =>
  reason === "stop" || reason === "tool_calls" ? (hasCalls ? "tool_calls" : "stop") : reason;

export interface CanonicalResponse {
  /** The protocol of the upstream that answered. */
  readonly protocol: UpstreamProtocol;
  /** The upstream's id of the answer. */
  readonly id: string;
  /** Unix seconds; 0 if the vendor does not report it. */
  readonly createdAt: number;
  /** Reasoning, text, refusal, tool call and media parts, in order. */
  readonly content: readonly Part[];
  readonly finish: Finish;
  /** Absent if the upstream reported none: the gateway then estimates it and says so. */
  readonly usage?: Usage | undefined;
}
