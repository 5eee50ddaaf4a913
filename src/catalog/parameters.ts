/**
 * The parameters that a text model takes, with their exact limits, by chat-completions name.
 * MODELS-07; docs/models.md "How a request is adapted". A model's own `parameters` narrow the protocol's limits.
 */
import type { Abilities } from "../base/abilities.ts";
import { inSnakeCase } from "../base/casing.ts";
import { GatewayError } from "../base/errors.ts";
import { exactTwinOf } from "../base/exact-numbers.ts";
import { isObject, type WireObject } from "../base/json.ts";
import type { Note } from "../base/notes.ts";
import { textBounds } from "../base/text-bounds.ts";
import type { Narrowing, ParameterDomain } from "./record.ts";
import type { EmbeddingModel, OfferProtocol, TextModel, TextProtocol } from "./types.ts";

const penalty: ParameterDomain = {
  type: "number",
  min: -textBounds.penaltyMax,
  max: textBounds.penaltyMax,
};
const flag: ParameterDomain = { type: "boolean" };

/**
 * The protocol's own limits. `reasoning_effort` is not an enumeration here: its values depend on the model, and the upstream
 * refuses others. For arrays `max` counts items.
 */
const protocolDomains: Readonly<Record<string, ParameterDomain>> = {
  max_tokens: { type: "integer", min: 1 },
  temperature: { type: "number", min: 0, max: textBounds.temperatureMax },
  top_p: { type: "number", min: 0, max: textBounds.topPMax },
  stop: { type: "array", max: textBounds.stopSequencesMax },
  seed: { type: "integer" },
  presence_penalty: penalty,
  frequency_penalty: penalty,
  n: { type: "integer", min: 1, max: textBounds.answersMax, default: 1 },
  logit_bias: { type: "object" },
  logprobs: flag,
  top_logprobs: { type: "integer", min: 0, max: textBounds.topLogprobsMax },
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
  prompt_cache_options: { type: "object" },
  prompt_cache_retention: { type: "enum", values: ["in_memory", "24h"] },
};

/** The parameters of `POST /v1/embeddings` beside `model` and `input`. */
const embeddingDomains: Readonly<Record<string, ParameterDomain>> = {
  dimensions: { type: "integer", min: 1 },
  encoding_format: { type: "enum", values: ["float", "base64"], default: "float" },
  user: { type: "string" },
};

/** Not in `protocolDomains`, because only messages and generateContent have it; a model's record can still exclude or narrow it. */
const topK: ParameterDomain = { type: "integer", min: 1 };

/** Every parameter that a record may name, with its protocol's limits. */
export const recordDomains: Readonly<Record<string, ParameterDomain>> = {
  ...protocolDomains,
  top_k: topK,
};
export const recordParameters: readonly string[] = Object.keys(recordDomains);

function narrow(domain: ParameterDomain, narrowing: Narrowing | undefined): ParameterDomain {
  if (narrowing === undefined) return domain;
  const merged = { ...domain, ...narrowing };
  return narrowing.values === undefined ? merged : { ...merged, type: "enum" };
}

/** The domains of the parameters that a model takes, in a fixed order, without those that it lacks. */
export function supportedParameters(
  model: TextModel | EmbeddingModel,
): Record<string, ParameterDomain> {
  if (model.kind === "embedding") return { ...embeddingDomains };
  const absent = absentOf(model);
  const entries = Object.entries(protocolDomains).flatMap(([name, domain]) => {
    if (absent.includes(name)) return [];
    const can = abilityNarrowing(name, model);
    const own = model.parameters[name];
    return can === false ? [] : [[name, narrow(narrow(domain, can), own || undefined)] as const];
  });
  return Object.fromEntries(entries);
}

/** Narrows a parameter by the model's abilities; false if the model does not support it at all. */
function abilityNarrowing(
  name: string,
  { reasoning, toolChoice }: Abilities,
): Narrowing | false | undefined {
  if (name === "tool_choice" && toolChoice && !toolChoice.modes.includes("named"))
    return { values: toolChoice.modes };
  if (name !== "reasoning_effort" || !reasoning) return undefined;
  if (reasoning.kind === "none") return false;
  if (reasoning.kind !== "effort" && reasoning.kind !== "adaptive") return undefined;
  return { values: [...(reasoning.off ? ["none"] : []), ...reasoning.values] };
}

type Paths = string | readonly string[];

/** Where a parameter is in other protocols' bodies, as dotted paths; absent if a protocol does not have it. */
const spellings: Readonly<Record<string, Partial<Record<TextProtocol, Paths>>>> = {
  max_tokens: {
    chat: ["max_tokens", "max_completion_tokens"],
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
  top_k: { messages: "top_k", generate_content: "generationConfig.topK" },
  stop: { messages: "stop_sequences", generate_content: "generationConfig.stopSequences" },
  seed: { generate_content: "generationConfig.seed" },
  presence_penalty: {
    responses: "presence_penalty",
    generate_content: "generationConfig.presencePenalty",
  },
  frequency_penalty: {
    responses: "frequency_penalty",
    generate_content: "generationConfig.frequencyPenalty",
  },
  n: { generate_content: "generationConfig.candidateCount" },
  logprobs: { generate_content: "generationConfig.responseLogprobs" },
  top_logprobs: { responses: "top_logprobs", generate_content: "generationConfig.logprobs" },
  tools: {
    chat: ["tools", "functions"],
    responses: "tools",
    messages: "tools",
    generate_content: "tools",
  },
  tool_choice: {
    chat: ["tool_choice", "function_call"],
    responses: "tool_choice",
    messages: "tool_choice",
    generate_content: "toolConfig",
  },
  parallel_tool_calls: {
    responses: "parallel_tool_calls",
    messages: "tool_choice.disable_parallel_tool_use",
  },
  response_format: {
    responses: "text.format",
    messages: "output_config.format",
    generate_content: ["responseMimeType", "responseSchema", "responseJsonSchema"].map(
      (name) => `generationConfig.${name}`,
    ),
  },
  reasoning_effort: {
    responses: "reasoning.effort",
    messages: "output_config.effort",
    generate_content: "generationConfig.thinkingConfig.thinkingLevel",
  },
  verbosity: { responses: "text.verbosity" },
  store: { responses: "store", generate_content: "store" },
  metadata: { responses: "metadata" },
  user: { responses: "user", messages: "metadata.user_id" },
  safety_identifier: { responses: "safety_identifier" },
  prompt_cache_key: { responses: "prompt_cache_key" },
  prompt_cache_options: { responses: "prompt_cache_options" },
  prompt_cache_retention: { responses: "prompt_cache_retention" },
};

/** True if a protocol has the parameter, under any name. */
export const isSpelledIn = (name: string, protocol: OfferProtocol): boolean =>
  pathsOf(name, protocol).length > 0;

/** The paths of a parameter in a protocol's body; in generateContent, each in camelCase and snake_case. */
function pathsOf(name: string, protocol: OfferProtocol): readonly string[] {
  const paths =
    (protocol === "converse" ? undefined : spellings[name]?.[protocol]) ??
    (protocol === "chat" ? name : []);
  const all = typeof paths === "string" ? [paths] : paths;
  return protocol === "generate_content" ? all.flatMap(bothCases) : all;
}

/** A path with each step in camelCase and in snake_case: generateContent accepts both. */
function bothCases(path: string): string[] {
  return path.split(".").reduce<string[]>(
    (starts, step) => {
      const snake = inSnakeCase(step);
      const steps = snake === step ? [step] : [step, snake];
      return starts.flatMap((start) =>
        steps.map((one) => (start === "" ? one : `${start}.${one}`)),
      );
    },
    [""],
  );
}

function valueAt(body: WireObject, path: string): unknown {
  let value: unknown = body;
  for (const step of path.split(".")) value = isObject(value) ? value[step] : undefined;
  return value;
}

/** The path at which a body has a parameter; the protocol's first path if the body does not have it. */
export const spellingOf = (name: string, protocol: TextProtocol, body: WireObject): string => {
  const paths = pathsOf(name, protocol);
  return paths.find((path) => (valueAt(body, path) ?? null) !== null) ?? paths[0] ?? name;
};

/** The id and parameters of a model, or of the model at one offer. */
type Narrowed = Pick<TextModel, "id" | "parameters">;

/** True if `value` is a multiple of `step`, within the precision of floats: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, step: number): boolean {
  if (Number.isInteger(step)) return value % step === 0;
  const times = value / step;
  return Math.abs(times - Math.round(times)) <= 2 * Number.EPSILON * Math.abs(times);
}

/** The reason why a value is outside the domain; undefined if it is inside. The codecs check types. */
export function domainFault(domain: Narrowing, value: unknown): string | undefined {
  const { values, min, max, multiple_of: step, pattern } = domain;
  if (values !== undefined && !values.includes(value as string | number)) {
    return `must be one of ${values.join(", ")}`;
  }
  const size = Array.isArray(value) ? value.length : value;
  if (typeof size === "number") {
    if (min !== undefined && size < min) return `must be at least ${min}`;
    if (max !== undefined && size > max) return `must be at most ${max}`;
    if (step !== undefined && !isMultiple(size, step)) return `must be a multiple of ${step}`;
  }
  if (typeof value === "string" && pattern !== undefined && !new RegExp(pattern).test(value)) {
    return `must match ${pattern}`;
  }
  return undefined;
}

/**
 * Refuses a value outside the model's own limits. The codec checks the protocol's limits; {@link removeUnsupported} drops and
 * reports parameters that the model lacks.
 * @throws GatewayError `invalid_value` with the caller's own spelling as `param`.
 */
export function checkParameters(model: Narrowed, protocol: TextProtocol, body: WireObject): void {
  for (const [name, narrowing] of Object.entries(model.parameters)) {
    if (narrowing === false) continue;
    for (const param of pathsOf(name, protocol)) {
      const value = valueAt(body, param);
      const why = value === undefined || value === null ? undefined : domainFault(narrowing, value);
      if (why === undefined) continue;
      const message = `${param}: ${why} with the model ${model.id}.`;
      throw new GatewayError("invalid_value", message, { param });
    }
  }
}

/**
 * Removes parameters that the model lacks from a body, and notes those that were set (ERR-12). Never changes `body` itself;
 * returns it if nothing is removed.
 */
export function removeUnsupported<Body extends WireObject>(
  model: Narrowed,
  protocol: TextProtocol,
  body: Body,
): { readonly body: Body; readonly notes: readonly Note[] } {
  let kept = body;
  const notes: Note[] = [];
  for (const name of absentOf(model)) {
    for (const param of pathsOf(name, protocol)) {
      const value = valueAt(kept, param);
      if (value === undefined) continue;
      kept = without(kept, param.split(".")) as Body;
      // SDKs send null for unset parameters.
      if (value !== null)
        notes.push({ param, kind: "dropped", detail: "not supported by this model, dropped" });
    }
  }
  return { body: kept, notes };
}

/** The parameters that a model lacks. Without tools, also the choice of tools, which vendors would refuse. */
function absentOf({ parameters }: Narrowed): readonly string[] {
  const names = Object.keys(parameters).filter((name) => parameters[name] === false);
  return names.includes("tools") ? [...names, "tool_choice", "parallel_tool_calls"] : names;
}

/** A copy without the member at `path`; all other members are shared with the original. */
function without(object: WireObject, path: readonly string[]): WireObject {
  const [step, ...rest] = path as [string, ...string[]];
  const copy = { ...object };
  const member = copy[step];
  if (rest.length === 0) delete copy[step];
  else if (isObject(member)) copy[step] = without(written(member), rest);
  return copy;
}

/** A shallow copy of a member; its objects and lists, such as schemas, are written exactly as they were read. */
const written = (member: WireObject): WireObject =>
  Object.fromEntries(Object.entries(member).map(([key, value]) => [key, exactTwinOf(value)]));
