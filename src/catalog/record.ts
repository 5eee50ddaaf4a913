/**
 * What a text model can do, as data: the one source for what is dropped, rewritten and refused on the way to it, for
 * `supported_parameters`, `GET /v1/models` and the documentation. docs/models.md.
 *
 * What a record does not say is unknown, and passed on: the vendor decides.
 */
/**
 * A parameter's exact domain, as `GET /v1/models` lists it under `supported_parameters`.
 * Snake case, because it is the wire shape and the configuration's shape at once.
 */
export interface ParameterDomain {
  readonly type: "enum" | "integer" | "number" | "boolean" | "string" | "object" | "array";
  readonly values?: readonly (string | number)[] | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly default?: string | number | boolean | undefined;
  readonly pattern?: string | undefined;
  readonly multiple_of?: number | undefined;
}

/** What a model narrows of a parameter's domain; what is absent stays as the protocol has it. */
export type Narrowing = Partial<ParameterDomain>;

/**
 * How the wish for reasoning is put in a chat request. `reasoning_effort` is the protocol's own. The others are vendors'
 * fields: `enable_thinking` with `thinking_budget` (Qwen), `thinking: {type}` (DeepSeek, Doubao, Kimi, GLM).
 */
export const reasoningFields = ["reasoning_effort", "enable_thinking", "thinking"] as const;
export type ReasoningField = (typeof reasoningFields)[number];

/** What all that reason have in common. */
interface Reasons {
  /** Whether it can be switched off. */
  readonly off: boolean;
  /** The vendor's word for off, where it is another than the protocol's. */
  readonly offAs?: "between_tools" | undefined;
  /** Parameters that the vendor refuses while the model reasons, by chat-completions name. */
  readonly excludes?: readonly string[] | undefined;
  /** Absent: `reasoning_effort`. Only of offers that speak chat. */
  readonly field?: ReasoningField | undefined;
}

/** How a model reasons, and what of it a caller chooses. */
export type ReasoningAbility =
  /** Not at all, or without anything to choose. */
  | { readonly kind: "none" }
  /** On or off. */
  | (Reasons & { readonly kind: "toggle" })
  /** So much as a word says, the least first. `none` is not among the words: that is `off`. */
  | (Reasons & { readonly kind: "effort"; readonly values: readonly string[] })
  /** So many tokens. `values` are efforts that it takes beside a budget. */
  | (Reasons & {
      readonly kind: "budget";
      readonly min: number;
      readonly max?: number | undefined;
      readonly values?: readonly string[] | undefined;
    })
  /** As much as it finds right; an effort says where that lies, and budgets are refused. */
  | (Reasons & { readonly kind: "adaptive"; readonly values: readonly string[] });

/** `required`: some tool. `named`: this tool. */
export const toolChoiceModes = ["auto", "none", "required", "named"] as const;
export type ToolChoiceMode = (typeof toolChoiceModes)[number];

export interface ToolChoiceAbility {
  readonly modes: readonly ToolChoiceMode[];
  /** Whether `required` and `named` may stand beside reasoning that is switched on. Absent: unknown. */
  readonly forcedWhileReasoning?: boolean | undefined;
}

/** What can go into a model and come out of it. */
export const modalities = ["text", "image", "audio", "video", "pdf"] as const;
export type Modality = (typeof modalities)[number];

/** A model that is not, or not for long, what one would build on. Absent of all this: in service. */
export interface Lifecycle {
  readonly stage: "preview" | "deprecated";
  /** When the vendor takes it out of service, in Unix milliseconds. */
  readonly retiresAtMs?: number | undefined;
  /** What the vendor says to use instead, by our name or the vendor's. */
  readonly replacement?: string | undefined;
}

/** A model's record, of what is known of it. */
export interface ModelRecord {
  /** Narrower limits per parameter, by chat-completions name; `false`: not taken. `top_k` is the one name of another protocol. */
  readonly parameters?: Readonly<Record<string, Narrowing | false>> | undefined;
  readonly reasoning?: ReasoningAbility | undefined;
  readonly toolChoice?: ToolChoiceAbility | undefined;
  /** Whether an answer can be held to a JSON Schema. */
  readonly structuredOutputs?: boolean | undefined;
  /** Whether a conversation may end with the beginning of the answer. */
  readonly prefill?: boolean | undefined;
  readonly inputModalities?: readonly Modality[] | undefined;
  readonly outputModalities?: readonly Modality[] | undefined;
  readonly contextLength?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly lifecycle?: Lifecycle | undefined;
}

const merged = new WeakMap<ModelRecord, WeakMap<ModelRecord, ModelRecord>>();

/**
 * The record that holds for an offer: the model's, with what differs at this provider in place. Parameters are merged name
 * by name, everything else is replaced. The same records give the same object.
 */
export function recordOf(model: ModelRecord, offer: ModelRecord | undefined): ModelRecord {
  if (offer === undefined) return model;
  let known = merged.get(model);
  if (known === undefined) merged.set(model, (known = new WeakMap()));
  let record = known.get(offer);
  if (record === undefined) known.set(offer, (record = mergeRecords(model, offer)));
  return record;
}

function mergeRecords(model: ModelRecord, offer: ModelRecord): ModelRecord {
  const said = Object.entries(offer).filter(([, value]) => value !== undefined);
  return {
    ...model,
    ...Object.fromEntries(said),
    parameters: { ...model.parameters, ...offer.parameters },
  };
}
