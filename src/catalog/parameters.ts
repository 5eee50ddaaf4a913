/**
 * The parameters a text model takes, with their exact domains, by chat-completions name.
 * Contract "supported_parameters" (MODELS-07). A model's own `parameters` narrow what the protocol allows.
 */
import { GatewayError } from "../base/errors.ts";
import { isObject, type WireObject } from "../base/json.ts";
import type { Narrowing, ParameterDomain, TextModel, TextProtocol } from "./types.ts";

const penalty: ParameterDomain = { type: "number", min: -2, max: 2 };
const flag: ParameterDomain = { type: "boolean" };

/**
 * What the protocol itself allows. `reasoning_effort` is no enumeration here: which efforts exist is the model's
 * affair, and its upstream refuses the others. For arrays `max` counts items.
 */
export const protocolDomains: Readonly<Record<string, ParameterDomain>> = {
  max_tokens: { type: "integer", min: 1 },
  temperature: { type: "number", min: 0, max: 2 },
  top_p: { type: "number", min: 0, max: 1 },
  stop: { type: "array", max: 4 },
  seed: { type: "integer" },
  presence_penalty: penalty,
  frequency_penalty: penalty,
  n: { type: "integer", min: 1, max: 128, default: 1 },
  logit_bias: { type: "object" },
  logprobs: flag,
  top_logprobs: { type: "integer", min: 0, max: 20 },
  tools: { type: "array" },
  tool_choice: { type: "object" },
  parallel_tool_calls: flag,
  response_format: { type: "object" },
  reasoning_effort: { type: "string" },
  verbosity: { type: "enum", values: ["low", "medium", "high"] },
  stream: { type: "boolean", default: false },
  store: flag,
  metadata: { type: "object" },
  user: { type: "string" },
  safety_identifier: { type: "string" },
  prompt_cache_key: { type: "string" },
  prompt_cache_retention: { type: "enum", values: ["in_memory", "24h"] },
};

function narrow(domain: ParameterDomain, narrowing: Narrowing | undefined): ParameterDomain {
  if (narrowing === undefined) return domain;
  const merged = { ...domain, ...narrowing };
  return narrowing.values === undefined ? merged : { ...merged, type: "enum" };
}

/** The domains of the parameters a model takes, in a fixed order. Parameters it lacks are left out. */
export function supportedParameters(model: TextModel): Record<string, ParameterDomain> {
  const entries = Object.entries(protocolDomains).flatMap(([name, domain]) => {
    const narrowing = model.parameters[name];
    return narrowing === false ? [] : [[name, narrow(domain, narrowing)] as const];
  });
  return Object.fromEntries(entries);
}

/** Where a parameter stands in each protocol's body, as a dotted path; absent where the protocol has none. */
const spellings: Readonly<Record<string, Partial<Record<TextProtocol, string>>>> = {
  max_tokens: {
    chat: "max_tokens",
    responses: "max_output_tokens",
    messages: "max_tokens",
    generate_content: "generationConfig.maxOutputTokens",
  },
  temperature: {
    chat: "temperature",
    responses: "temperature",
    messages: "temperature",
    generate_content: "generationConfig.temperature",
  },
  top_p: {
    chat: "top_p",
    responses: "top_p",
    messages: "top_p",
    generate_content: "generationConfig.topP",
  },
  stop: {
    chat: "stop",
    messages: "stop_sequences",
    generate_content: "generationConfig.stopSequences",
  },
  seed: { chat: "seed", generate_content: "generationConfig.seed" },
  presence_penalty: {
    chat: "presence_penalty",
    generate_content: "generationConfig.presencePenalty",
  },
  frequency_penalty: {
    chat: "frequency_penalty",
    generate_content: "generationConfig.frequencyPenalty",
  },
  n: { chat: "n", generate_content: "generationConfig.candidateCount" },
  top_logprobs: { chat: "top_logprobs", responses: "top_logprobs" },
  reasoning_effort: { chat: "reasoning_effort", responses: "reasoning.effort" },
  verbosity: { chat: "verbosity", responses: "text.verbosity" },
  prompt_cache_retention: {
    chat: "prompt_cache_retention",
    responses: "prompt_cache_retention",
  },
};

function valueAt(body: WireObject, path: string): unknown {
  let value: unknown = body;
  for (const step of path.split(".")) value = isObject(value) ? value[step] : undefined;
  return value;
}

/** What is wrong with a value; undefined where it lies in the domain. Types are the codecs' affair. */
function fault(domain: Narrowing, value: unknown): string | undefined {
  const { values, min, max, multiple_of: step, pattern } = domain;
  if (values !== undefined && !values.includes(value as string | number)) {
    return `must be one of ${values.join(", ")}`;
  }
  const size = Array.isArray(value) ? value.length : value;
  if (typeof size === "number") {
    if (min !== undefined && size < min) return `must be at least ${min}`;
    if (max !== undefined && size > max) return `must be at most ${max}`;
    if (step !== undefined && size % step !== 0) return `must be a multiple of ${step}`;
  }
  if (typeof value === "string" && pattern !== undefined && !new RegExp(pattern).test(value)) {
    return `must match ${pattern}`;
  }
  return undefined;
}

/**
 * Refuses a value outside what the model narrows. What the model does not narrow is left to the codec's own check,
 * and what it lacks to the step that drops and reports it.
 * @throws GatewayError `invalid_value` with the caller's own spelling as `param`.
 */
export function checkParameters(model: TextModel, protocol: TextProtocol, body: WireObject): void {
  for (const [name, narrowing] of Object.entries(model.parameters)) {
    const param = spellings[name]?.[protocol];
    if (narrowing === false || param === undefined) continue;
    const value = valueAt(body, param);
    if (value === undefined || value === null) continue;
    const why = fault(narrowing, value);
    if (why === undefined) continue;
    throw new GatewayError("invalid_value", `${param}: ${why} with the model ${model.id}.`, {
      param,
    });
  }
}

/** Why a narrowing does not narrow its parameter's domain; undefined where it does. */
export function narrowingFault(name: string, narrowing: Narrowing): string | undefined {
  const domain = protocolDomains[name];
  if (domain === undefined) return undefined;
  if (narrowing.type !== undefined && narrowing.type !== domain.type && narrowing.type !== "enum") {
    return `its type is ${domain.type}`;
  }
  if ((narrowing.min ?? Infinity) < (domain.min ?? -Infinity)) return `min is below ${domain.min}`;
  if ((narrowing.max ?? -Infinity) > (domain.max ?? Infinity)) return `max is above ${domain.max}`;
  const extra = narrowing.values?.find((value) => fault(domain, value) !== undefined);
  return extra === undefined ? undefined : `the value ${extra} is outside what the protocol allows`;
}
