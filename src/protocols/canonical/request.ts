/**
 * The canonical request: what a text call means, whatever protocol it came in.
 * Requirements: CONV. One form, four codecs; no codec knows another.
 */
import type { ReasoningField } from "../../base/abilities.ts";
import type { ToolNamespace, CustomInput, ToolChoice } from "./tools.ts";

export type { ToolNamespace, ToolWithin, CustomInput, CustomFormat, ToolChoice } from "./tools.ts";

/** The four text protocols that callers speak, by the names the configuration uses. */
export const protocolNames = ["chat", "responses", "messages", "generate_content"] as const;
export type ProtocolName = (typeof protocolNames)[number];

/** What an upstream may speak: one of the four, or what no caller does. */
export const upstreamProtocols = [...protocolNames, "converse"] as const;
export type UpstreamProtocol = (typeof upstreamProtocols)[number];

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Where the bytes of an image, audio or file are. Base64 data without a `data:` prefix. */
export type MediaSource =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string; readonly mediaType?: string | undefined }
  | { readonly kind: "file_id"; readonly fileId: string }
  /** A document of texts and pictures (messages). */
  | { readonly kind: "parts"; readonly parts: readonly (TextPart | MediaPart)[] };

/** A messages-style prompt-cache marker on the part it follows. */
export interface CacheBreakpoint {
  readonly ttl?: "5m" | "1h" | undefined;
}

/** One piece of a message. */
export type Part =
  | TextPart
  | MediaPart
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart
  | { readonly type: "refusal"; readonly text: string };

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly cache?: CacheBreakpoint | undefined;
  /** Of an answer: it begins a message of its own after another. Other texts go on where the last one ended. */
  readonly apart?: true | undefined;
  /** Of an answer: the pages that it relies on. */
  readonly citations?: readonly Citation[] | undefined;
}

/** What a text of an answer relies on. */
export type Citation = PageCitation | FileCitation;

interface Cited {
  /** Of a file its name. */
  readonly title?: string | undefined;
  /** What the page or the file says. */
  readonly quote?: string | undefined;
  /** Which characters (code points) of the text; absent: all of it. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
}

/** A page on the web. */
export interface PageCitation extends Cited {
  readonly url: string;
  readonly file?: undefined;
}

/** A file that the vendor keeps, or a document of the request. */
export interface FileCitation extends Cited {
  readonly file: CitedFile;
}

export interface CitedFile {
  readonly id?: string | undefined;
  /** What a program of the vendor's made the file in. */
  readonly container?: string | undefined;
  /** Its number among the files, or its place in the text, as the vendor counts. */
  readonly index?: number | undefined;
}

/** An image, audio, a video or a file. */
export interface MediaPart {
  readonly type: "media";
  readonly media: "image" | "audio" | "video" | "file";
  readonly source: MediaSource;
  /** Image detail: `low`, `high`, `auto`, `original`. */
  readonly detail?: string | undefined;
  readonly filename?: string | undefined;
  /** Of a document: what the model is told about it (messages, Converse). */
  readonly context?: string | undefined;
  /** Of a search's result, which is a document of parts: where it was found. */
  readonly address?: string | undefined;
  readonly cache?: CacheBreakpoint | undefined;
  /** Of a picture that is an item of its own (responses). */
  readonly id?: string | undefined;
}

/** Reasoning of an earlier turn. A signature is valid at the protocol (and provider) that issued it, nowhere else. */
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  /** True when `text` is a summary of the reasoning (responses), not the reasoning itself. */
  readonly summary?: boolean | undefined;
  readonly signature?: Signature | undefined;
  readonly id?: string | undefined;
}

/** Opaque proof of reasoning, with the protocol that understands it. */
export interface Signature {
  readonly protocol: ProtocolName;
  /** `signature` (messages), `redacted` (messages), `encrypted_content` (responses), `thoughtSignature` (generateContent), `reasoning_details` JSON (chat). */
  readonly value: string;
  readonly redacted?: boolean | undefined;
}

export interface ToolCallPart {
  readonly type: "tool_call";
  /** Unique over the conversation; pairs the call with its result. */
  readonly id: string;
  readonly name: string;
  /** The name of what the tool is within; absent: it is within none. */
  readonly namespace?: string | undefined;
  /** The arguments as JSON text, as the model wrote them ("" counts as "{}"); of a custom tool its input, which is any text. */
  readonly arguments: string;
  /** The call is of a custom tool. */
  readonly custom?: true | undefined;
  readonly signature?: Signature | undefined;
  readonly cache?: CacheBreakpoint | undefined;
}

export interface ToolResultPart {
  readonly type: "tool_result";
  readonly callId: string;
  /** Known where the protocol names it; else found from the call's id. */
  readonly name?: string | undefined;
  /** Text and media parts only. */
  readonly content: readonly Part[];
  readonly isError?: boolean | undefined;
  /** The call was of a custom tool. */
  readonly custom?: true | undefined;
  readonly cache?: CacheBreakpoint | undefined;
}

/** A turn. `system` turns may stand anywhere (chat, responses); codecs put them where the target wants them. Tool results are parts of a `user` turn. */
export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: readonly Part[];
  /** `developer` where the caller used that role for a system turn. */
  readonly developer?: boolean | undefined;
  readonly name?: string | undefined;
  /** Of a system turn that is shown only until the next turn of a user (messages): where the caller says so. */
  readonly clearedAt?: string | undefined;
}

/** What a turn says of the tools from there on. */
export interface ToolChange {
  /** The place of it, where it stands among the native fields too: its own protocol gets it as it was. */
  readonly param: string;
  readonly added?: readonly Tool[] | undefined;
  /** Names of tools of the request, or of an earlier turn. */
  readonly offered?: readonly string[] | undefined;
  readonly removed?: readonly string[] | undefined;
  /** What of it no other protocol could understand. */
  readonly native?: readonly NativeField[] | undefined;
}

export interface Tool {
  /** Unique among those that are within the same namespace, or within none. */
  readonly name: string;
  /** What it is within (responses); the same object for all tools of one declaration. */
  readonly namespace?: ToolNamespace | undefined;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments; absent for a tool without arguments. */
  readonly parameters?: JsonObject | undefined;
  readonly strict?: boolean | undefined;
  readonly cache?: CacheBreakpoint | undefined;
  /** Of a custom tool (chat, responses): its input is one text, and no JSON. */
  readonly custom?: CustomInput | undefined;
}

export type OutputFormat =
  | { readonly type: "text" }
  | { readonly type: "json" }
  | {
      readonly type: "json_schema";
      readonly name?: string | undefined;
      readonly description?: string | undefined;
      readonly schema: JsonObject;
      readonly strict?: boolean | undefined;
    };

/** How much the model should think. Effort and budget are different wishes: a budget never becomes an effort (CONV-218). */
export interface Reasoning {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, or a value only the upstream knows. */
  readonly effort?: string | undefined;
  /** Tokens; 0 is off; "dynamic" leaves it to the model. */
  readonly budget?: number | "dynamic" | undefined;
  /** `auto`, `concise`, `detailed`. */
  readonly summary?: string | undefined;
  /** Whether thoughts are returned (generateContent `includeThoughts`, messages `display`). */
  readonly includeThoughts?: boolean | undefined;
  readonly mode?: string | undefined;
  readonly context?: string | undefined;
  /** Set by fitting, where the target puts it otherwise than its protocol does. */
  readonly field?: ReasoningField | undefined;
  readonly offAs?: string | undefined;
}

/** A field that only its own protocol knows. Kept so that its loss can be reported by the caller's own name. */
export interface NativeField {
  /** The caller's dotted name, such as `logit_bias` or `tools[2]`. */
  readonly param: string;
  readonly value: unknown;
}

export interface CanonicalRequest {
  /** The protocol the request came in. */
  readonly protocol: ProtocolName;
  /** The model as the caller wrote it, suffix included. */
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly Message[];
  readonly maxOutputTokens?: number | undefined;
  /** Set by fitting, where the target's vendor calls it otherwise than its protocol does. */
  readonly maximumField?: "max_completion_tokens" | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly tools?: readonly Tool[] | undefined;
  readonly toolChanges?: readonly ToolChange[] | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  readonly outputFormat?: OutputFormat | undefined;
  readonly reasoning?: Reasoning | undefined;
  /** `low`, `medium`, `high`. */
  readonly verbosity?: string | undefined;
  readonly endUserId?: string | undefined;
  /** Session key for affinity; takes precedence over `endUserId` (RESP-37). */
  readonly promptCacheKey?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly store?: boolean | undefined;
  /** Whether a chat caller wants the usage frame at the end of a stream. */
  readonly includeUsage?: boolean | undefined;
  /** Everything else the caller sent, in request order: kept on the same protocol, else dropped and reported. */
  readonly native: readonly NativeField[];
  /**
   * The caller's own name of each canonical field above, for notes: `{ maxOutputTokens: "max_completion_tokens" }`.
   * Only fields the caller really sent are present.
   */
  readonly names: Readonly<Partial<Record<NamedField, string>>>;
}

/** What a note may have to name: the fields, and the type of the output where it stands beside its schema (generateContent). */
export type NamedField = CanonicalFieldName | "outputFormat.type";

/** The canonical fields that a note may have to name. Dots stand for the members of `reasoning`. */
export type CanonicalFieldName =
  | "maxOutputTokens"
  | "temperature"
  | "topP"
  | "topK"
  | "stop"
  | "seed"
  | "presencePenalty"
  | "frequencyPenalty"
  | "tools"
  | "toolChoice"
  | "parallelToolCalls"
  | "outputFormat"
  | "reasoning.effort"
  | "reasoning.budget"
  | "reasoning.summary"
  | "reasoning.includeThoughts"
  | "reasoning.mode"
  | "reasoning.context"
  | "verbosity"
  | "endUserId"
  | "promptCacheKey"
  | "metadata"
  | "store"
  | "includeUsage";
