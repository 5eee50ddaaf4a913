/**
 * The canonical stream: a union with explicit block starts and ends, so that the gateway can always complete open blocks. Legal order
 * (checked by grammar.ts): start, then blocks (may interleave by id), media and usage at any time, then one finish or error.
 */
import type { Citation, MediaPart, Signature, UpstreamProtocol } from "./request.ts";
import type { Finish } from "./response.ts";
import type { Usage } from "../../base/usage.ts";

/** Id of a block, unique within one stream. */
export type BlockId = string;

export type CanonicalEvent =
  | {
      readonly type: "start";
      readonly protocol: UpstreamProtocol;
      readonly id: string;
      readonly createdAt: number;
    }
  | {
      readonly type: "text_start";
      readonly block: BlockId;
      /** See `TextPart.newMessage`. */
      readonly newMessage?: true | undefined;
    }
  | { readonly type: "text_delta"; readonly block: BlockId; readonly text: string }
  /** A citation in a text block: sent after the words it supports, usually before the block ends. */
  | { readonly type: "citation"; readonly block: BlockId; readonly citation: Citation }
  | { readonly type: "text_end"; readonly block: BlockId }
  | { readonly type: "refusal_start"; readonly block: BlockId }
  | { readonly type: "refusal_delta"; readonly block: BlockId; readonly text: string }
  | { readonly type: "refusal_end"; readonly block: BlockId }
  | {
      readonly type: "reasoning_start";
      readonly block: BlockId;
      readonly summary?: boolean | undefined;
    }
  | { readonly type: "reasoning_delta"; readonly block: BlockId; readonly text: string }
  | {
      readonly type: "reasoning_end";
      readonly block: BlockId;
      readonly signature?: Signature | undefined;
    }
  | {
      readonly type: "tool_call_start";
      readonly block: BlockId;
      readonly id: string;
      readonly name: string;
      /** See `ToolCallPart.namespace`. */
      readonly namespace?: string | undefined;
      /** The call is for a custom tool: its deltas are free text. */
      readonly custom?: true | undefined;
    }
  | { readonly type: "tool_call_delta"; readonly block: BlockId; readonly arguments: string }
  | {
      readonly type: "tool_call_end";
      readonly block: BlockId;
      readonly signature?: Signature | undefined;
    }
  /** A picture or sound in the answer: sent whole, outside any block. */
  | { readonly type: "media"; readonly part: MediaPart }
  /**
   * Cumulative; the last one wins. Undefined: the counts so far cannot be true, and the usage is estimated (T51). `coversStartOnly`: covers
   * only the start of the answer, so it is useless once the answer is complete.
   */
  | {
      readonly type: "usage";
      readonly usage: Usage | undefined;
      readonly coversStartOnly?: boolean | undefined;
    }
  | { readonly type: "finish"; readonly finish: Finish }
  | { readonly type: "error"; readonly message: string; readonly code?: string | undefined };
