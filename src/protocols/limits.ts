/**
 * What a protocol can carry when it is the target of a conversion, as data: the one source for `fit`, for
 * docs/protocols.md and for what the rows CONV-2xx to CONV-5xx ask. Requirements: CONV.
 */
import type {
  CanonicalFieldName,
  JsonObject,
  MediaPart,
  UpstreamProtocol,
} from "./canonical/request.ts";

import type { SchemaCost } from "./schema-budget.ts";

export type MediaKind = MediaPart["media"];

/**
 * carried: the protocol has a place for it. refused: the request fails, because without it the model would be asked
 * something else (CONV-424 to CONV-426). dropped: left out and reported, where the rows say so (CONV-518, CONV-606).
 */
export type MediaRule = "carried" | "dropped" | "refused";

/**
 * name: who of several participants speaks. developer: a system turn of that role. detail: of a picture.
 * strict: arguments held to their schema. isError: of a tool's result. assistantMedia: what a model itself made.
 */
export type Extra = "name" | "developer" | "detail" | "strict" | "isError" | "assistantMedia";

/** Fields that may be lost: all but those that hold what the caller said. */
export type Losable = Exclude<CanonicalFieldName, "tools" | "toolChoice" | "maxOutputTokens">;

export interface Limits {
  readonly protocol: UpstreamProtocol;
  /** Fields without an equivalent, each with the reason that its caller reads. */
  readonly lost: Readonly<Partial<Record<Losable, string>>>;
  readonly temperatureMax: number;
  /** True where temperature and top_p are refused side by side. Absent: they are taken. */
  readonly oneSampler?: true;
  /** Stop sequences taken; Infinity where the protocol names no bound. */
  readonly stopSequencesMax: number;
  /** True where a stop sequence of white space alone is refused. Absent: an empty one is. */
  readonly stopMustShow?: true;
  /** The largest seed taken, of either sign. Absent: no bound. */
  readonly seedMax?: number;
  /** True where a maximum of output tokens must be sent: the model's own limit then fills it (CONV-403). */
  readonly needsMaximum: boolean;
  /** What the vendor calls it, where that is not the protocol's own name. */
  readonly maximumField?: "max_completion_tokens";
  /** The least maximum of output tokens that the vendor takes. Absent: 1. */
  readonly outputTokensMin?: number;
  /** Of files what holds for PDF; files of another kind that is not carried are refused. */
  readonly media: Readonly<Record<MediaKind, MediaRule>>;
  /** Media at a web address that the upstream does not read by itself. At other addresses it is refused. */
  readonly webMedia: Exclude<MediaRule, "carried">;
  /** Which addresses of media the upstream reads by itself. */
  readonly takesUrl: (url: string, media: MediaKind) => boolean;
  /** Which media types it takes of what is sent as bytes. Absent: the vendor decides. */
  readonly takesType?: (mediaType: string, media: MediaKind) => boolean;
  /** Which of the small members that not every protocol has this one has. */
  readonly carries: readonly Extra[];
  /** Details of a picture that it has no word for, each with the nearest it has. */
  readonly detailBecomes: Readonly<Record<string, string>>;
  /** The most characters of an end-user id and of a call's id; Infinity where the vendor names no bound. */
  readonly endUserIdMax: number;
  readonly callIdMax: number;
  /** True where ids of calls may hold letters, digits, "_" and "-" only. */
  readonly plainCallIds: boolean;
  /** The form that ids of calls must have; a hash of nine characters stands for others. Absent: any. */
  readonly callIdForm?: RegExp;
  /** How many cache markers a request may hold; 0 where caching is automatic (CONV-217, CONV-605). */
  readonly cacheMarkersMax: number;
  /** True where system turns stand apart from the conversation, at its top, and the conversation begins with the user. */
  readonly systemOnTop: boolean;
  /** True where an answer that the model is to go on with may not end in white space. Absent: it may. */
  readonly trimsBegun?: boolean;
  /** True where reasoning of an earlier turn may go back without the protocol's own signature. */
  readonly unsignedReasoning: boolean;
  /** True where an answer of an earlier turn without its reasoning is refused, beside calls (blank-reasoning.ts). Absent: it is taken. */
  readonly needsReasoning?: true;
  readonly reasoning: ReasoningLimits;
  /** Where the word "json" must stand if JSON is asked for without a schema. Absent: it need not. */
  readonly jsonWord?: "anywhere" | "input";
  /** True where metadata is refused unless the answer is stored. Absent: it is taken. */
  readonly metadataNeedsStore?: true;
  /** True where a choice of tools is refused even if it leaves all to the model. Absent: it is taken. */
  readonly refusesAuto?: true;
  /** False where a model cannot be kept from calling the tools that it is offered. Absent: it can. */
  readonly forbidsTools?: boolean;
  /** Names of tools the vendor takes; others are refused by it, and go under another name (tool-names.ts). */
  readonly toolName: RegExp;
  /** The most characters of such a name. */
  readonly toolNameMax: number;
  /** Names of a tool's arguments the vendor takes; others make it refuse the request (argument-names.ts). Absent: any. */
  readonly argumentName?: RegExp;
  /** The keywords of JSON Schemas that the vendor refuses and the codec therefore takes out, sorted (T23). Absent: none. */
  readonly schemaLosses?: (schemas: readonly JsonObject[]) => readonly string[];
  /** True where lists in schemas must say what is in them (open-lists.ts). Absent: they need not. */
  readonly closedLists?: true;
  /** True where a form for the answer is refused beside tools. Absent: it is taken. */
  readonly formatOrTools?: true;
  /** True where a schema for the answer must begin with an object (boxed-answer.ts). Absent: it need not. */
  readonly objectAnswers?: true;
  /** True where custom tools go on as they are. Absent: they become functions (custom-as-function.ts). */
  readonly customTools?: true;
  /**
   * A schema for the answer in the form that the models take whose record says that they take one; undefined where it cannot be put.
   * Of other models the answer's form is lost (CONV-412). Absent: `lost` says it for all.
   */
  readonly answerSchema?: (schema: JsonObject) => AnswerSchema | undefined;
  /** Which schemas it can hold a tool's arguments to, where it takes them as they are: callers of messages know others. Absent: any. */
  readonly holds?: (schema: JsonObject) => boolean;
  /** How much one request may ask to be held to schemas, tools and answer together. Absent: no bound. */
  readonly schemaBudget?: SchemaCost;
}

/** A schema for the answer as a target takes it. */
export interface AnswerSchema {
  readonly schema: JsonObject;
  /** The keywords that it says in descriptions only, sorted. */
  readonly told: readonly string[];
}

/** How a wish for reasoning is put. */
export interface ReasoningLimits {
  /** Effort towards a token budget where the protocol has budgets only; "limit" is the model's own maximum. */
  readonly budgetByEffort?: Readonly<Record<string, number | "limit">> | undefined;
  /** True where only a model's record says where the wish is put: without one it is left out and reported. */
  readonly byRecordOnly?: boolean | undefined;
  /** The least budget, where there is one; a budget must also stay below the maximum of output tokens. */
  readonly budgetMin?: number | undefined;
  /** Fields that the vendor refuses beside reasoning (CONV-419 to CONV-421). */
  readonly excludes: readonly CanonicalFieldName[];
  /** True where a summary is only on or off (CONV-514). */
  readonly summaryIsFlag: boolean;
  /** True where a budget and an effort exclude each other. */
  readonly budgetOrEffort: boolean;
  /** Efforts above the highest that the vendor knows, each with what it becomes (T34). */
  readonly effortBecomes: Readonly<Record<string, string>>;
}

/** Claude 4.1 to 4.6, wherever they are served. Earlier ones take both, and later ones neither, which their records say. */
export const takesOneSampler = (model: string): boolean =>
  /claude-(?:opus-4[-.]1|(?:opus|sonnet|haiku)-4[-.][56])(?!\d)/.test(model);

/** Claude's, wherever it is served: it refuses others with the whole request. */
export const claudeArgumentName = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Addresses on the web, of pictures only: no protocol takes sound by address. */
export const webPictures = (url: string, media: MediaKind): boolean =>
  media === "image" && /^https?:\/\//i.test(url);
