/**
 * The shipped list: vendors that need no configuration file, and their models from the public models.dev list.
 * Both are text with one JSON object per line (catalog/vendors.jsonl, catalog/models.jsonl), so that diffs are readable.
 */
import type { ReasoningField } from "../../base/abilities.ts";
import type { SupplyTier } from "../../base/management.ts";
import type { Dialect } from "../dialects.ts";
import type { OfferProtocol } from "../types.ts";

/** A vendor of the list. Setting the variable from the vendor's documentation is enough to use it. Maintained by hand. */
export interface VendorRow {
  /** Also the provider's id. */
  readonly id: string;
  readonly name: string;
  /** Its name at models.dev if different from `id`; empty: not listed there. */
  readonly list?: string;
  /** The prefix of its model ids; `id` if absent. */
  readonly prefix?: string;
  /** The variables for its key: the documented one first, then other known ones. */
  readonly variables: readonly [string, ...string[]];
  /** May contain `${NAME}` of variables that it needs beside the key. */
  readonly base_url: string;
  /** The variable for another base URL, if its name does not follow from the key's variable. */
  readonly base_url_variable?: string;
  /** `openai-compatible` if absent. */
  readonly dialect?: Dialect;
  /**
   * Sets of variables that replace a key: a cloud's own credentials, by the names that its own programs use. One set is
   * enough; a key of `variables` wins over them. The dialect says which cloud they belong to.
   */
  readonly identities?: readonly (readonly [string, ...string[]])[];
  /** The protocols of its models; chat if absent. */
  readonly protocols?: readonly OfferProtocol[];
  /** Protocols of other models, by regular expression; the first match applies. */
  readonly speaks?: Readonly<Record<string, readonly OfferProtocol[]>>;
  /** A regular expression of the models taken from its list; all if absent. */
  readonly models?: string;
  /** A regular expression of the `provider.api` address of the models taken from its list (no address: an empty text). */
  readonly at?: string;
  /**
   * A regular expression of the models whose price of 0 in its list is none. It bills them: by its own pages, as all of its models, or at
   * the prices of the models for which they stand.
   */
  readonly not_free?: string;
  /** A regular expression of the beginnings of names by region, in place of which the same model worldwide has `global.`. */
  readonly regional?: string;
  /** A regular expression of the models that cost a tenth more at an address of a region, such as `/locations/us-east5`. */
  readonly placed?: string;
  /** A regular expression of the models that cost the same however long a call is, although its list has tiers for them. */
  readonly flat?: string;
  /** Lists by the beginning of a name, before the name there: it bills long calls at the tiers of those, where its own has none. */
  readonly tiers_from?: Readonly<Record<string, string>>;
  /** A regular expression of the models that are only served at `responses`. */
  readonly responses_only?: string;
  /** A regular expression of the models that refuse a prefill: a conversation that ends with the beginning of the answer. */
  readonly no_prefill?: string;
  /** A regular expression of the models that hold an answer to a schema, for models about which its list is silent. */
  readonly structured_outputs?: string;
  /** A regular expression of the models that hold no answer to a schema, even if its list says so. */
  readonly no_structured_outputs?: string;
  /** Parameters that models lack and its list does not mention: chat-completions names, by regular expression of models. */
  readonly lacks?: Readonly<Record<string, readonly string[]>>;
  /** The fee of each call, in USD, by regular expression of models, if its list has only the prices of tokens. */
  readonly request_fees?: Readonly<Record<string, string>>;
  /** The field of its chat requests that controls reasoning; `reasoning_effort` if absent. */
  readonly reasoning_field?: ReasoningField;
  /** Exceptions to `reasoning_field`, by regular expression of models. */
  readonly reasoning_fields?: Readonly<Record<string, ReasoningField>>;
  /** False if its models that reason refuse a forced tool call while they do, and they reason unless told otherwise. */
  readonly forced_while_reasoning?: false;
  /** Members of chat messages, their parts and calls, and of tools that it refuses with 400 or 422, mostly of other vendors' answers. */
  readonly refused_members?: readonly string[];
  /** Parameters that it refuses with 400 or 422 in chat, by chat-completions names. */
  readonly refused_fields?: readonly string[];
  /** The field for the maximum of output tokens in chat, if it refuses or ignores the other one. */
  readonly maximum_field?: "max_tokens" | "max_completion_tokens";
  /** True if it refuses `null` as the content of a chat message, also beside tool calls. */
  readonly no_null_content?: true;
  /** True if it refuses the role `developer` in chat, or its models do not see such a turn. */
  readonly no_developer_role?: true;
  /** A regular expression of the models whose reasoning stands in the text of chat answers, unless `reasoning_split` asks for it apart. */
  readonly splits_reasoning?: string;
  /** A regular expression of the models that give a stream only, at least while they reason. */
  readonly streams_only?: string;
  /** True if it refuses an answer format, such as JSON, together with tools in chat. */
  readonly format_or_tools?: true;
  readonly tier?: SupplyTier;
  /** The page that describes its models. */
  readonly docs: string;
}

/** USD per million tokens, as decimal text. */
export interface ListedRates {
  readonly input: string;
  readonly output: string;
  readonly cache_read?: string;
  readonly cache_write?: string;
  readonly reasoning?: string;
}

/** `above`: in ascending order of input `tokens`; the last tier that applies is used for the whole call. */
export interface ListedPrice extends ListedRates {
  readonly above?: readonly (ListedRates & { readonly tokens: number })[];
}

/** One way to control a model's reasoning, in the list's own terms. A model may have several. */
export interface ReasoningOption {
  readonly type: "toggle" | "effort" | "budget_tokens";
  readonly values?: readonly string[];
  readonly min?: number;
  readonly max?: number;
}

/** A listed model of a vendor. Absent fields are unknown. */
export interface ListedModel {
  /** The vendor's `id`. */
  readonly vendor: string;
  /** The vendor's own name of the model. */
  readonly model: string;
  /** `text` if absent. */
  readonly kind?: "embedding";
  readonly name?: string;
  /** `2026-03-17`. */
  readonly released?: string;
  readonly context: number;
  readonly output?: number;
  /** Input modalities beside text. */
  readonly in?: readonly string[];
  /** Set if its protocols differ from the vendor's. */
  readonly protocols?: readonly OfferProtocol[];
  /** Absent: the list has no price, so the model is not called. */
  readonly price?: ListedPrice;
  /** `false`: it does not reason. `true`: it does, but how to control that is unknown. */
  readonly reasoning?: boolean | readonly ReasoningOption[];
  /** `false`: it takes no temperature. */
  readonly temperature?: false;
  /** `false`: it calls no tools. */
  readonly tools?: false;
  readonly structured?: boolean;
  readonly status?: "deprecated" | "preview";
}
