/**
 * The canonical stream: a union with explicit block starts and ends, so that block boundaries can always be completed.
 * Legal order (checked by grammar.ts): start, then blocks (may interleave by id), media and usage at any time, then one finish or error.
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
      /** As of a text in a whole answer. */
      readonly apart?: true | undefined;
    }
  | { readonly type: "text_delta"; readonly block: BlockId; readonly text: string }
  /** Of a text: behind the words that it is of, as a rule before the text's end. */
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
      /** As of a call in a whole answer. */
      readonly namespace?: string | undefined;
      /** The call is of a custom tool: its deltas are any text. */
      readonly custom?: true | undefined;
    }
  | { readonly type: "tool_call_delta"; readonly block: BlockId; readonly arguments: string }
  | {
      readonly type: "tool_call_end";
      readonly block: BlockId;
      readonly signature?: Signature | undefined;
    }
  /** A picture or sound of the answer: whole, and no block. */
  | { readonly type: "media"; readonly part: MediaPart }
  /** Cumulative; the last one seen wins. `isSoFar`: told of the answer's start alone, and of no use once it is over. */
  | { readonly type: "usage"; readonly usage: Usage; readonly isSoFar?: boolean | undefined }
  | { readonly type: "finish"; readonly finish: Finish }
  | { readonly type: "error"; readonly message: string; readonly code?: string | undefined };
