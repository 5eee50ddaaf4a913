/**
 * What a text model can do of what requests differ in, as data: requests are fitted to it, and records of models hold it.
 * docs/models.md. What is absent is unknown, and passed on: the vendor decides.
 */

/**
 * How the wish for reasoning is put in a chat request. `reasoning_effort` is the protocol's own. The others are vendors'
 * fields: `enable_thinking` with `thinking_budget` (Qwen), `thinking: {type}` (DeepSeek, Doubao, Kimi, GLM). In Converse
 * `thinking` is Claude's, and `reasoning_config` Amazon Nova's.
 */
export const reasoningFields = [
  "reasoning_effort",
  "enable_thinking",
  "thinking",
  "reasoning_config",
] as const;
export type ReasoningField = (typeof reasoningFields)[number];

/** What all that reason have in common. */
interface Reasons {
  /** Whether it can be switched off. */
  readonly off: boolean;
  /** The vendor's word for off, where it is another than the protocol's. */
  readonly offAs?: "between_tools" | undefined;
  /** Parameters that the vendor refuses while the model reasons, by chat-completions name. */
  readonly excludes?: readonly string[] | undefined;
  /** Absent: `reasoning_effort` in chat, and none in Converse. Only of offers that speak one of the two. */
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

/** What is known of a model's abilities. */
export interface Abilities {
  readonly reasoning?: ReasoningAbility | undefined;
  readonly toolChoice?: ToolChoiceAbility | undefined;
  /** Whether an answer can be held to a JSON Schema. */
  readonly structuredOutputs?: boolean | undefined;
  /** Whether a conversation may end with the beginning of the answer. */
  readonly prefill?: boolean | undefined;
  readonly inputModalities?: readonly Modality[] | undefined;
}
