/**
 * The canonical request: the meaning of a text call, independent of its protocol. Requirements: CONV. One form, four codecs; no codec knows
 * another.
 */
import type { ReasoningField } from "../../base/abilities.ts";
import type { ToolNamespace, CustomInput, ToolChoice } from "./tools.ts";

export type { ToolNamespace, ToolWithin, CustomInput, CustomFormat, ToolChoice } from "./tools.ts";

/** The four text protocols that callers speak, by the names the configuration uses. */
export const protocolNames = ["chat", "responses", "messages", "generate_content"] as const;
export type ProtocolName = (typeof protocolNames)[number];

/** The protocols of upstreams: the four, and `converse`, which no caller speaks. */
export const upstreamProtocols = [...protocolNames, "converse"] as const;
export type UpstreamProtocol = (typeof upstreamProtocols)[number];

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** The location of the bytes of an image, audio or file. Base64 data has no `data:` prefix. */
export type MediaSource =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string; readonly mediaType?: string | undefined }
  | { readonly kind: "file_id"; readonly fileId: string }
  /** A document made of texts and pictures (messages). */
  | { readonly kind: "parts"; readonly parts: readonly (TextPart | MediaPart)[] };

/** A messages-style prompt-cache marker on the part it follows. */
export interface CacheBreakpoint {
  readonly ttl?: "5m" | "1h" | undefined;
  /** The caller's name of the marker, if it did not stand on the part itself (chat). */
  readonly param?: string | undefined;
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
  /** Answers only: the text begins a new message. Without it, the text continues the one before. */
  readonly newMessage?: true | undefined;
  /** Answers only: the sources that the text cites. */
  readonly citations?: readonly Citation[] | undefined;
}

/** The source that a text of an answer cites. */
export type Citation = PageCitation | FileCitation;

interface Cited {
  /** For a file, its name. */
  readonly title?: string | undefined;
  /** The quoted text of the page or file. */
  readonly quote?: string | undefined;
  /** Start and end of the cited span, in characters (code points) of the text; absent: the whole text. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
}

/** A page on the web. */
export interface PageCitation extends Cited {
  readonly url: string;
  readonly file?: undefined;
}

/** A file stored at the vendor, or a document of the request. */
export interface FileCitation extends Cited {
  readonly file: CitedFile;
}

export interface CitedFile {
  readonly id?: string | undefined;
  /** The vendor's code container in which the file was made. */
  readonly container?: string | undefined;
  /** The number of the file among the files, or its position in the text, as the vendor counts. */
  readonly index?: number | undefined;
}

/** An image, audio, a video or a file. */
export interface MediaPart {
  readonly type: "media";
  readonly media: "image" | "audio" | "video" | "file";
  readonly source: MediaSource;
  /** Image detail: `low`, `high`, `auto`, `original`. */
  readonly detail?: string | undefined;
  /** True for a video or sound in the caller's field for pictures. */
  readonly inPicture?: true;
  readonly filename?: string | undefined;
  /** Documents only: extra context for the model (messages, Converse). */
  readonly context?: string | undefined;
  /** Search results only, which are documents of parts: the address of the result. */
  readonly address?: string | undefined;
  readonly cache?: CacheBreakpoint | undefined;
  /** Id of a picture that is an item of its own (responses). */
  readonly id?: string | undefined;
}

/** Reasoning of an earlier turn. A signature is valid only at the protocol (and provider) that issued it. */
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
  /**
   * `signature` or `redacted` (messages), `encrypted_content` (responses), `thoughtSignature` (generateContent), `reasoning_details` JSON
   * (chat).
   */
  readonly value: string;
  readonly redacted?: boolean | undefined;
}

export interface ToolCallPart {
  readonly type: "tool_call";
  /** Unique in the conversation; pairs the call with its result. */
  readonly id: string;
  readonly name: string;
  /** The name of the tool's namespace; absent: none. */
  readonly namespace?: string | undefined;
  /** The arguments as JSON text, as the model wrote them ("" counts as "{}"). For a custom tool: its input, free text. */
  readonly arguments: string;
  /** The call is for a custom tool. */
  readonly custom?: true | undefined;
  readonly signature?: Signature | undefined;
  readonly cache?: CacheBreakpoint | undefined;
}

export interface ToolResultPart {
  readonly type: "tool_result";
  readonly callId: string;
  /** Set if the protocol names it; otherwise found by the call's id. */
  readonly name?: string | undefined;
  /** Text and media parts only. */
  readonly content: readonly Part[];
  readonly isError?: boolean | undefined;
  /** The call was for a custom tool. */
  readonly custom?: true | undefined;
  readonly cache?: CacheBreakpoint | undefined;
}

/** A turn. `system` turns may be anywhere (chat, responses); codecs move them as needed. Tool results are parts of a `user` turn. */
export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: readonly Part[];
  /** True if the caller used the role `developer` for a system turn. */
  readonly developer?: boolean | undefined;
  readonly name?: string | undefined;
  /** Set for a system turn that is shown only until the next user turn (messages): the path of the caller's `clear_at`. */
  readonly clearedAt?: string | undefined;
}

/** A change of the available tools from this turn on. */
export interface ToolChange {
  /** The path of the change, which is a native field too, so that the same protocol forwards it unchanged. */
  readonly param: string;
  readonly added?: readonly Tool[] | undefined;
  /** Names of tools from the request or from an earlier turn. */
  readonly offered?: readonly string[] | undefined;
  readonly removed?: readonly string[] | undefined;
  /** The members that only the caller's protocol knows. */
  readonly native?: readonly NativeField[] | undefined;
}

export interface Tool {
  /** Unique within its namespace, or among the tools without one. */
  readonly name: string;
  /** The tool's namespace (responses); the same object for all tools of one declaration. */
  readonly namespace?: ToolNamespace | undefined;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments; absent for a tool without arguments. */
  readonly parameters?: JsonObject | undefined;
  readonly strict?: boolean | undefined;
  readonly cache?: CacheBreakpoint | undefined;
  /** Custom tools only (chat, responses): the input is one text, not JSON. */
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

/** How much the model should think. Effort and budget are different requests: a budget never becomes an effort (CONV-218). */
export interface Reasoning {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, or a value that only the upstream knows. */
  readonly effort?: string | undefined;
  /** Tokens; 0 turns reasoning off; "dynamic" leaves it to the model. */
  readonly budget?: number | "dynamic" | undefined;
  /** `auto`, `concise`, `detailed`. */
  readonly summary?: string | undefined;
  /** True if thoughts are returned (generateContent `includeThoughts`, messages `display`). */
  readonly includeThoughts?: boolean | undefined;
  readonly mode?: string | undefined;
  readonly context?: string | undefined;
  /** Set by `fit` if the target model uses other fields than its protocol does. */
  readonly field?: ReasoningField | undefined;
  readonly offAs?: string | undefined;
}

/** A field that only its own protocol knows. Kept so that the gateway can report its loss by the caller's name. */
export interface NativeField {
  /** The caller's dotted name, such as `logit_bias` or `tools[2]`. */
  readonly param: string;
  readonly value: unknown;
}

/** The two names of the maximum of output tokens in chat. */
export type MaximumField = "max_completion_tokens" | "max_tokens";

export interface CanonicalRequest {
  /** The caller's protocol. */
  readonly protocol: ProtocolName;
  /** The model as the caller wrote it, suffix included. */
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly Message[];
  readonly maxOutputTokens?: number | undefined;
  /** Set by `fit` if the target's vendor uses another name than its protocol does. */
  readonly maximumField?: MaximumField | undefined;
  /** Set by `fit` if the target's vendor refuses messages without content. */
  readonly needsContent?: true | undefined;
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
  /** The name of the session; takes precedence over `endUserId` (RESP-37). */
  readonly promptCacheKey?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly store?: boolean | undefined;
  /** True if a chat caller wants the usage frame at the end of a stream. */
  readonly includeUsage?: boolean | undefined;
  /** All other fields of the caller, in request order: kept on the same protocol, otherwise dropped and reported. */
  readonly native: readonly NativeField[];
  /** The caller's own names of the canonical fields above that it sent, for notes: `{ maxOutputTokens: "max_completion_tokens" }`. */
  readonly names: Readonly<Partial<Record<NamedField, string>>>;
}

/** Names that notes use: the canonical fields, and the output's type if it stands beside its schema (generateContent). */
export type NamedField = CanonicalFieldName | "outputFormat.type";

/** The canonical fields that notes use. Dots stand for the members of `reasoning`. */
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
