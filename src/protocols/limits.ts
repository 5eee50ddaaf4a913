/**
 * The limits of a protocol as the target of a conversion. The one source for `fit`, for docs/protocols.md and for the requirement rows
 * CONV-2xx to CONV-5xx. Requirements: CONV.
 */
import type {
  CanonicalFieldName,
  JsonObject,
  MaximumField,
  MediaPart,
  UpstreamProtocol,
} from "./canonical/request.ts";

import type { SchemaCost } from "./schema-budget.ts";

export type MediaKind = MediaPart["media"];

/**
 * - carried: the protocol can express it.
 * - refused: the request fails, because dropping it would change the question (CONV-424 to CONV-426).
 * - dropped: left out and reported, as the rows say (CONV-518, CONV-606).
 */
export type MediaRule = "carried" | "dropped" | "refused";

/**
 * - name: the speaker among several.
 * - developer: a system turn of that role.
 * - detail: of a picture.
 * - strict: arguments must match their schema.
 * - isError: of a tool result.
 * - assistantMedia: media that a model made.
 */
export type OptionalMember =
  | "name"
  | "developer"
  | "detail"
  | "strict"
  | "isError"
  | "assistantMedia";

/** Fields that may be dropped: all but those with the caller's content. */
export type DroppableField = Exclude<
  CanonicalFieldName,
  "tools" | "toolChoice" | "maxOutputTokens"
>;

export interface Limits {
  readonly protocol: UpstreamProtocol;
  /** Fields without an equivalent, each with the reason for the caller's note. */
  readonly unsupportedFields: Readonly<Partial<Record<DroppableField, string>>>;
  readonly temperatureMax: number;
  /** True if the vendor refuses temperature and top_p together. Absent: it accepts both. */
  readonly oneSampler?: true;
  /** Maximum number of stop sequences; Infinity if the protocol names no limit. */
  readonly stopSequencesMax: number;
  /** True if the vendor refuses stop sequences of only white space. Absent: it refuses only empty ones. */
  readonly refusesBlankStops?: true;
  /** Largest absolute value of a seed. Absent: no limit. */
  readonly seedMax?: number;
  /** True if the vendor requires a maximum of output tokens: the model's limit is the default (CONV-403). */
  readonly needsMaximum: boolean;
  /** The vendor's name for the maximum, if it differs from the protocol's. */
  readonly maximumField?: MaximumField;
  /** Smallest maximum of output tokens that the vendor accepts. Absent: 1. */
  readonly outputTokensMin?: number;
  /** For files: the rule for PDF. Other file types are refused unless files are carried. */
  readonly media: Readonly<Record<MediaKind, MediaRule>>;
  /** The rule for media at a web address that the upstream does not fetch. At other addresses it is refused. */
  readonly webMedia: Exclude<MediaRule, "carried">;
  /** True if the upstream fetches media at this address itself. */
  readonly fetchesUrl: (url: string, media: MediaKind) => boolean;
  /** True if the vendor accepts this media type as bytes. Absent: the vendor decides. */
  readonly acceptsMediaType?: (mediaType: string, media: MediaKind) => boolean;
  /** The optional members that this protocol supports. */
  readonly supportedMembers: readonly OptionalMember[];
  /** Unsupported picture details, each with its nearest replacement. */
  readonly detailReplacements: Readonly<Record<string, string>>;
  /** Longest end-user id and call id, in characters; Infinity if the vendor names no limit. */
  readonly endUserIdMax: number;
  /** True if the vendor refuses an end-user id with an e-mail address. Absent: it accepts it. */
  readonly refusesEmailId?: true;
  readonly callIdMax: number;
  /** True if call ids may only have letters, digits, "_" and "-". */
  readonly plainCallIds: boolean;
  /** The required form of call ids; others become a hash of nine characters. Absent: any. */
  readonly callIdForm?: RegExp;
  /** Maximum number of cache markers in a request; 0 if caching is automatic (CONV-217, CONV-605). */
  readonly cacheMarkersMax: number;
  /** True if cache markers may only follow texts and media of a turn, and last five minutes. Absent: also tools, calls and results, and an hour. */
  readonly plainMarkers?: true;
  /** True if the vendor refuses a cache marker right after a document that is no PDF, or after documents alone. Absent: it takes both. */
  readonly documentsUnmarked?: true;
  /** True if system turns go apart at the top, and the conversation must begin with the user. */
  readonly systemOnTop: boolean;
  /** True if nothing may follow the calls of a turn: some vendors then miss their results, or see the start of an answer. Absent: it may. */
  readonly callsLast?: true;
  /** True if an answer that the model should continue must not end in white space. Absent: it may. */
  readonly trimsPrefill?: boolean;
  /** True if reasoning of earlier turns may be sent back without this protocol's signature. */
  readonly unsignedReasoning: boolean;
  /** True if the vendor refuses earlier answers without reasoning beside calls (blank-reasoning.ts). Absent: it accepts them. */
  readonly needsReasoning?: true;
  readonly reasoning: ReasoningLimits;
  /** The place where the word "json" is required if JSON is requested without a schema. Absent: it is not. */
  readonly jsonWord?: "anywhere" | "input";
  /** True if the vendor refuses metadata unless the answer is stored. Absent: it accepts it. */
  readonly metadataNeedsStore?: true;
  /** True if the vendor refuses even the tool choice `auto`. Absent: it accepts it. */
  readonly refusesAuto?: true;
  /** True if the vendor refuses a choice that names a tool: only this tool is offered, and a call required. Absent: it accepts it. */
  readonly refusesNamed?: true;
  /** True if the vendor refuses messages without content, also beside calls: they get an empty text. Absent: it accepts them. */
  readonly refusesNullContent?: true;
  /** False if offered tools cannot be forbidden. Absent: they can. */
  readonly forbidsTools?: boolean;
  /** Pattern of tool names that the vendor accepts; others are renamed (tool-names.ts). */
  readonly toolName: RegExp;
  /** Longest tool name, in characters. */
  readonly toolNameMax: number;
  /** Pattern of tool argument names that the vendor accepts; it refuses requests with others (argument-names.ts). Absent: any. */
  readonly argumentName?: RegExp;
  /** Returns the JSON Schema keywords that the vendor refuses and the codec therefore removes, sorted (T23). Absent: none. */
  readonly schemaLosses?: (schemas: readonly JsonObject[]) => readonly string[];
  /** True if lists in schemas must declare their items (open-lists.ts). Absent: they need not. */
  readonly listsNeedItems?: true;
  /** True if patterns that only some engines read must go into descriptions (portable-patterns.ts). Absent: the vendor reads all. */
  readonly portablePatterns?: true;
  /** Rewrites a tool's argument schema as the vendor takes it; the same object if that is unchanged. Absent: it takes any. */
  readonly toolSchema?: (schema: JsonObject) => JsonObject;
  /** True if the vendor refuses an output format beside tools. Absent: it accepts both. */
  readonly formatOrTools?: true;
  /** True if an answer schema must have an object at its root (wrap-answer-schema.ts). Absent: it need not. */
  readonly answerNeedsObjectRoot?: true;
  /** True if the vendor refuses a choice among allowed tools: only these are offered (T29). Absent: the codec carries the choice. */
  readonly refusesAllowed?: true;
  /** True if custom tools are kept. Absent: they become functions (custom-as-function.ts). */
  readonly customTools?: true;
  /**
   * Rewrites an answer schema for models whose record supports one; undefined if it cannot be expressed. Other models lose the output
   * format (CONV-412). Absent: `unsupportedFields` applies to all.
   */
  readonly answerSchema?: (schema: JsonObject) => AnswerSchema | undefined;
  /** True if the vendor can enforce this argument schema unchanged; asked for callers of messages, which has other rules. Absent: any. */
  readonly canEnforce?: (schema: JsonObject) => boolean;
  /** Limit for all enforced schemas of one request, tools and answer together. Absent: none. */
  readonly schemaBudget?: SchemaCost;
}

/** An answer schema as the target accepts it. */
export interface AnswerSchema {
  readonly schema: JsonObject;
  /** The keywords that moved into descriptions, sorted. */
  readonly describedKeywords: readonly string[];
}

/** The reasoning settings that a protocol supports. */
export interface ReasoningLimits {
  /** Token budget of each effort, if the protocol only has budgets; "limit" is the model's maximum. */
  readonly budgetByEffort?: Readonly<Record<string, number | "limit">> | undefined;
  /** True if only a model's record names the field of the reasoning setting: without one, the setting is dropped and reported. */
  readonly byRecordOnly?: boolean | undefined;
  /** Smallest budget, if there is one; a budget must also stay below the maximum of output tokens. */
  readonly budgetMin?: number | undefined;
  /** Fields that the vendor refuses beside reasoning (CONV-419 to CONV-421). */
  readonly excludes: readonly CanonicalFieldName[];
  /** True if a summary is only on or off (CONV-514). */
  readonly summaryIsFlag: boolean;
  /** True if budget and effort exclude each other. */
  readonly budgetOrEffort: boolean;
  /** Efforts above the vendor's highest, each with its replacement (T34). */
  readonly effortReplacements: Readonly<Record<string, string>>;
}

/** True for Claude 4.1 to 4.6 at any provider. Earlier models accept both, later ones neither; their records say so. */
export const takesOneSampler = (model: string): boolean =>
  /claude-(?:opus-4[-.]1|(?:opus|sonnet|haiku)-4[-.][56])(?!\d)/.test(model);

/** The form of call ids that Mistral's models accept, at any provider. */
export const mistralCallId = /^[a-zA-Z0-9]{9}$/;

/** Claude's pattern, at any provider: it refuses the whole request for other names. */
export const claudeArgumentName = /^[a-zA-Z0-9_.-]{1,64}$/;

/** True for web addresses of pictures: no protocol accepts audio by address. */
export const webPictures = (url: string, media: MediaKind): boolean =>
  media === "image" && /^https?:\/\//i.test(url);
