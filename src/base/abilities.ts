/**
 * The abilities of a text model in which requests differ, as data: requests are fitted to it, and records of models hold it.
 * docs/models.md. An absent ability is unknown, and its parameters are passed on: the vendor decides.
 */

/**
 * The field of a chat request that asks for reasoning. `reasoning_effort` is the protocol's own. The others are vendors' fields:
 * `enable_thinking` with `thinking_budget` (Qwen), `thinking: {type}` (DeepSeek, Doubao, Kimi, GLM). In Converse `thinking` is Claude's,
 * and `reasoning_config` Amazon Nova's.
 */
export const reasoningFields = [
  "reasoning_effort",
  "enable_thinking",
  "thinking",
  "reasoning_config",
] as const;
export type ReasoningField = (typeof reasoningFields)[number];

/** Properties shared by all kinds of reasoning. */
interface Reasons {
  /** True if reasoning can be switched off. */
  readonly off: boolean;
  /** The vendor's word for off, if it differs from the protocol's. */
  readonly offAs?: "between_tools" | undefined;
  /** Parameters that the vendor refuses while the model reasons, by chat-completions name. */
  readonly excludes?: readonly string[] | undefined;
  /** Absent: `reasoning_effort` in chat, and no field in Converse. Only for offers that speak one of the two. */
  readonly field?: ReasoningField | undefined;
}

/** How a model reasons, and what the caller can choose about it. */
export type ReasoningAbility =
  /** No reasoning, or nothing to choose. */
  | { readonly kind: "none" }
  /** On or off. */
  | (Reasons & { readonly kind: "toggle" })
  /** An effort in words, the least first. `none` is not among them: that is `off`. */
  | (Reasons & { readonly kind: "effort"; readonly values: readonly string[] })
  /** A budget in tokens. `values` are efforts that the model takes besides a budget. */
  | (Reasons & {
      readonly kind: "budget";
      readonly min: number;
      readonly max?: number | undefined;
      readonly values?: readonly string[] | undefined;
    })
  /** The model decides how much; an effort guides it, and budgets are refused. */
  | (Reasons & { readonly kind: "adaptive"; readonly values: readonly string[] });

/** `required`: some tool. `named`: this tool. */
export const toolChoiceModes = ["auto", "none", "required", "named"] as const;
export type ToolChoiceMode = (typeof toolChoiceModes)[number];

export interface ToolChoiceAbility {
  readonly modes: readonly ToolChoiceMode[];
  /** True if `required` and `named` work while reasoning is on. Absent: unknown. */
  readonly forcedWhileReasoning?: boolean | undefined;
}

/** Kinds of input and output of models. */
export const modalities = ["text", "image", "audio", "video", "pdf"] as const;
export type Modality = (typeof modalities)[number];

/** The known abilities of a model. */
export interface Abilities {
  readonly reasoning?: ReasoningAbility | undefined;
  readonly toolChoice?: ToolChoiceAbility | undefined;
  /** True if an answer can be forced to match a JSON Schema. */
  readonly structuredOutputs?: boolean | undefined;
  /** True if a conversation may end with the beginning of the answer. */
  readonly prefill?: boolean | undefined;
  readonly inputModalities?: readonly Modality[] | undefined;
}
