/**
 * The shipped list: vendors that need no configuration file, and what the public models.dev list says of their models.
 * Both are text with one JSON object a line (catalog/vendors.jsonl, catalog/models.jsonl), so that changes read well.
 */
import type { ReasoningField } from "../../base/abilities.ts";
import type { SupplyTier } from "../../base/management.ts";
import type { Dialect } from "../dialects.ts";
import type { OfferProtocol } from "../types.ts";

/** A vendor of the list: the variable that its own documents name is all it takes. Kept by hand. */
export interface VendorRow {
  /** Also the provider's id. */
  readonly id: string;
  readonly name: string;
  /** Its name at models.dev where that is another; empty: not there. */
  readonly list?: string;
  /** What its models' ids begin with; `id` if absent. */
  readonly prefix?: string;
  /** The variable that holds its key; the first is the documented one, the others are also known. */
  readonly variables: readonly [string, ...string[]];
  /** May hold `${NAME}` of variables that it needs beside the key. */
  readonly base_url: string;
  /** The variable that names another address, where it is not called like the key's. */
  readonly base_url_variable?: string;
  /** `openai-compatible` if absent. */
  readonly dialect?: Dialect;
  /**
   * The sets of variables that stand for a key: a cloud's own credentials, as its own programs find them. One set is
   * enough, and a key of `variables` wins over all. The dialect says whose credentials they are.
   */
  readonly identities?: readonly (readonly [string, ...string[]])[];
  /** What each of its models speaks; chat if absent. */
  readonly protocols?: readonly OfferProtocol[];
  /** Regular expressions of models that speak other protocols; the first that fits holds. */
  readonly speaks?: Readonly<Record<string, readonly OfferProtocol[]>>;
  /** A regular expression of the models of its list that are taken; all if absent. */
  readonly models?: string;
  /** A regular expression of the addresses that its list names for the models that are taken (none: an empty text). */
  readonly at?: string;
  /** A regular expression of the models that answer at `responses` alone. */
  readonly responses_only?: string;
  /** A regular expression of the models that refuse a conversation which ends with the beginning of the answer. */
  readonly no_prefill?: string;
  /** The same of the models that hold an answer to a schema, where its list does not say it. */
  readonly structured_outputs?: string;
  /** A regular expression of the models that hold no answer to a schema, whatever its list says. */
  readonly no_structured_outputs?: string;
  /** What its list does not say that models lack, by regular expressions of models and by chat-completions names. */
  readonly lacks?: Readonly<Record<string, readonly string[]>>;
  /** The field of its chat requests that switches reasoning; `reasoning_effort` if absent. */
  readonly reasoning_field?: ReasoningField;
  /** The same by regular expressions of models, where they differ. */
  readonly reasoning_fields?: Readonly<Record<string, ReasoningField>>;
  /** Members of a chat request's messages that it refuses with 400 or 422: the earlier reasoning of others, mostly. */
  readonly refused_members?: readonly string[];
  /** Parameters that it refuses with 400 or 422 in chat, by chat-completions names. */
  readonly refused_fields?: readonly string[];
  /** It refuses a form for the answer, such as JSON, beside tools in chat. */
  readonly format_or_tools?: true;
  readonly tier?: SupplyTier;
  /** Where its models are described. */
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

/** `above`: by rising `tokens` of input; the last that applies holds for the whole call. */
export interface ListedPrice extends ListedRates {
  readonly above?: readonly (ListedRates & { readonly tokens: number })[];
}

/** How a model's reasoning is chosen, in the list's own words. Several may hold. */
export interface ReasoningOption {
  readonly type: "toggle" | "effort" | "budget_tokens";
  readonly values?: readonly string[];
  readonly min?: number;
  readonly max?: number;
}

/** A model of a vendor of the list. What is absent is unknown. */
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
  /** What it takes beside text. */
  readonly in?: readonly string[];
  /** Where it speaks other than its vendor's protocols. */
  readonly protocols?: readonly OfferProtocol[];
  /** Absent: the list knows none, and it is not called. */
  readonly price?: ListedPrice;
  /** `false`: it does not reason. `true`: it does, and how that is chosen is unknown. */
  readonly reasoning?: boolean | readonly ReasoningOption[];
  /** `false`: it takes no temperature. */
  readonly temperature?: false;
  /** `false`: it calls no tools. */
  readonly tools?: false;
  readonly structured?: boolean;
  readonly status?: "deprecated" | "preview";
}
