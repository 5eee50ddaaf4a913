/** From what a model says that it takes (`supported_parameters`) to fields of a form, and from those to a body. Pure. */
import type { Protocol } from "../../base/code.ts";
import { put } from "./json.ts";

/** What a parameter may be, as `GET /v1/models` lists it. For an array `max` counts its items. */
export interface Domain {
  readonly type: string;
  readonly values?: readonly (string | number)[];
  readonly min?: number;
  readonly max?: number;
  readonly multiple_of?: number;
  readonly pattern?: string;
  readonly default?: unknown;
}

export type Domains = Readonly<Record<string, Domain>>;

/** What was typed, by the parameter's name. Empty is not sent. */
export type Typed = Readonly<Record<string, string>>;

/** Where a parameter stands in the bodies of the protocols; what is not here is a field of chat completions alone. */
const spellings: Readonly<Record<string, Partial<Record<Protocol, string>>>> = {
  max_tokens: {
    responses: "max_output_tokens",
    messages: "max_tokens",
    generate_content: "generationConfig.maxOutputTokens",
  },
  temperature: {
    responses: "temperature",
    messages: "temperature",
    generate_content: "generationConfig.temperature",
  },
  top_p: { responses: "top_p", messages: "top_p", generate_content: "generationConfig.topP" },
  stop: { messages: "stop_sequences", generate_content: "generationConfig.stopSequences" },
  seed: { generate_content: "generationConfig.seed" },
  presence_penalty: { generate_content: "generationConfig.presencePenalty" },
  frequency_penalty: { generate_content: "generationConfig.frequencyPenalty" },
  top_logprobs: { responses: "top_logprobs" },
  parallel_tool_calls: { responses: "parallel_tool_calls" },
  reasoning_effort: {
    responses: "reasoning.effort",
    messages: "output_config.effort",
    generate_content: "generationConfig.thinkingConfig.thinkingLevel",
  },
  verbosity: { responses: "text.verbosity" },
  store: { responses: "store" },
  metadata: { responses: "metadata" },
  user: { responses: "user", messages: "metadata.user_id" },
  safety_identifier: { responses: "safety_identifier" },
  prompt_cache_key: { responses: "prompt_cache_key" },
  prompt_cache_retention: { responses: "prompt_cache_retention" },
};

/** The path of a parameter in a protocol's body; undefined where it has none. Other endpoints use the names as they are. */
const pathIn = (name: string, protocol: Protocol | undefined): string | undefined =>
  protocol === undefined || protocol === "chat" ? name : spellings[name]?.[protocol];

/** These have a place of their own on the page, or are none for a form. */
const elsewhere = new Set(
  "stream tools n prompt image mask images partial_images last_frame reference_images media encoding_format webhook_url".split(
    " ",
  ),
);

/** The parameters that a form has for these models: of one that several have, the first one's domain. */
export function fieldsOf(models: readonly Domains[], protocol?: Protocol): [string, Domain][] {
  const all = Object.entries(Object.assign({}, ...models.toReversed()) as Domains);
  return all.filter(([name]) => !elsewhere.has(name) && pathIn(name, protocol) !== undefined);
}

/** What may be entered, in words. */
export function hintOf({ type, min, max, multiple_of: step, default: preset }: Domain): string {
  const unit = type === "array" ? " items" : "";
  const range =
    min !== undefined && max !== undefined
      ? `${min} to ${max}${unit}`
      : (min !== undefined && `from ${min}${unit}`) || (max !== undefined && `up to ${max}${unit}`);
  return [
    range,
    step !== undefined && `multiples of ${step}`,
    type === "array" && "one a line",
    type === "object" && "JSON",
    preset !== undefined && `${JSON.stringify(preset)} if absent`,
  ]
    .filter((part) => typeof part === "string")
    .join(", ");
}

type Read = { readonly value: unknown } | { readonly fault: string };

const number = /^-?\d+(?:\.\d+)?$/;

function readNumber({ type, min, max, multiple_of: step }: Domain, text: string): Read {
  if (!number.test(text)) return { fault: "A number is needed." };
  const value = Number(text);
  if (type === "integer" && !Number.isInteger(value)) return { fault: "A whole number is needed." };
  if (min !== undefined && value < min) return { fault: `At least ${min}.` };
  if (max !== undefined && value > max) return { fault: `At most ${max}.` };
  if (step !== undefined && value % step !== 0) return { fault: `A multiple of ${step}.` };
  return { value };
}

function readJson(text: string): Read {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { fault: "This is no JSON." };
  }
}

/** What was typed as a value of its domain, or what is wrong with it. */
export function readField(domain: Domain, text: string): Read {
  switch (domain.type) {
    case "integer":
    case "number":
      return readNumber(domain, text.trim());
    case "boolean":
      return { value: text === "true" };
    case "object":
      return readJson(text);
    case "array": {
      const items = text.split("\n").filter((line) => line !== "");
      const { max = Infinity } = domain;
      return items.length > max ? { fault: `At most ${max} items.` } : { value: items };
    }
    default: {
      const same = domain.values?.find((one) => String(one) === text);
      return { value: same ?? text };
    }
  }
}

/** Everything that was typed, at its place in the body, and what is wrong with what cannot be sent. */
export function readFields(
  fields: readonly [string, Domain][],
  typed: Typed,
  protocol?: Protocol,
): { body: Record<string, unknown>; faults: Typed } {
  const body: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const [name, domain] of fields) {
    const text = typed[name] ?? "";
    if (text === "") continue;
    const read = readField(domain, text);
    if ("fault" in read) faults[name] = read.fault;
    else put(body, pathIn(name, protocol)!, read.value);
  }
  return { body, faults };
}
