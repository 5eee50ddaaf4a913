/** Converts a model's `supported_parameters` to form fields, and their input to a body. Pure. */
import type { Protocol } from "../../base/code.ts";
import { put } from "./json.ts";

/** The allowed values of a parameter, as in `GET /v1/models`. For an array, `max` is the item count. */
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

/** The input by parameter name. Empty values are not sent. */
export type Typed = Readonly<Record<string, string>>;

/** The paths of parameters in each protocol's body. Parameters not listed exist only in chat completions. */
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

/** The path of a parameter in a protocol's body; undefined if it has none. Other endpoints use the plain names. */
const pathIn = (name: string, protocol: Protocol | undefined): string | undefined =>
  protocol === undefined || protocol === "chat" ? name : spellings[name]?.[protocol];

/** Parameters with a field elsewhere on the page, or unsuitable for a form. */
const excludedParameters = new Set(
  "stream tools n prompt image mask images partial_images last_frame reference_images media encoding_format webhook_url".split(
    " ",
  ),
);

/** The form's parameters for these models; if several models have one, the first model's domain counts. */
export function fieldsOf(models: readonly Domains[], protocol?: Protocol): [string, Domain][] {
  const all = Object.entries(Object.assign({}, ...models.toReversed()) as Domains);
  return all.filter(
    ([name]) => !excludedParameters.has(name) && pathIn(name, protocol) !== undefined,
  );
}

/** Describes the allowed input. */
export function hintOf({ type, min, max, multiple_of: step, default: preset }: Domain): string {
  const unit = type === "array" ? " items" : "";
  const range =
    min !== undefined && max !== undefined
      ? `${min} to ${max}${unit}`
      : (min !== undefined && `from ${min}${unit}`) || (max !== undefined && `up to ${max}${unit}`);
  return [
    range,
    step !== undefined && `multiples of ${step}`,
    type === "array" && "one per line",
    type === "object" && "JSON",
    preset !== undefined && `${JSON.stringify(preset)} if absent`,
  ]
    .filter((part) => typeof part === "string")
    .join(", ");
}

type Read = { readonly value: unknown } | { readonly fault: string };

const number = /^-?\d+(?:\.\d+)?$/;

/** True if `value` is a multiple of `step`, within the precision of floats: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, step: number): boolean {
  if (Number.isInteger(step)) return value % step === 0;
  const times = value / step;
  return Math.abs(times - Math.round(times)) <= 2 * Number.EPSILON * Math.abs(times);
}

function readNumber({ type, min, max, multiple_of: step }: Domain, text: string): Read {
  if (!number.test(text)) return { fault: "A number is needed." };
  const value = Number(text);
  if (type === "integer" && !Number.isInteger(value)) return { fault: "A whole number is needed." };
  if (min !== undefined && value < min) return { fault: `At least ${min}.` };
  if (max !== undefined && value > max) return { fault: `At most ${max}.` };
  if (step !== undefined && !isMultiple(value, step)) return { fault: `A multiple of ${step}.` };
  return { value };
}

function readJson(text: string): Read {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { fault: "This is not valid JSON." };
  }
}

/** Parses the input to a value of its domain, or returns its fault. */
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

/** Builds the body from the input, and lists the faults of values that cannot be sent. */
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
