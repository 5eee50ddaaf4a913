/**
 * The parameters a text model takes, with their exact domains, by chat-completions name.
 * MODELS-07; docs/models.md "What becomes of a request". A model's own `parameters` narrow what the protocol allows.
 */
import type { Abilities } from "../base/abilities.ts";
import { inSnakeCase } from "../base/casing.ts";
import { GatewayError } from "../base/errors.ts";
import { exactly } from "../base/exact-numbers.ts";
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
 * What the protocol itself allows. `reasoning_effort` is no enumeration here: which efforts exist is the model's
 * affair, and its upstream refuses the others. For arrays `max` counts items.
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

/** What `POST /v1/embeddings` takes beside `model` and `input`. */
const embeddingDomains: Readonly<Record<string, ParameterDomain>> = {
  dimensions: { type: "integer", min: 1 },
  encoding_format: { type: "enum", values: ["float", "base64"], default: "float" },
  user: { type: "string" },
};

/** Only messages and generateContent have it, so it is no parameter of ours; but models differ in whether they take it. */
const topK: ParameterDomain = { type: "integer", min: 1 };

/** Every parameter that a record may name, with what its protocol allows. */
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

/** The domains of the parameters a model takes, in a fixed order. Parameters it lacks are left out. */
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

/** What a model's abilities narrow of a parameter; false where they leave nothing of it. */
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

/** Where a parameter stands in the other protocols' bodies, as dotted paths; absent where a protocol has none. */
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

/** Whether a protocol has a parameter itself, by whatever name. */
export const isSpelledIn = (name: string, protocol: OfferProtocol): boolean =>
  pathsOf(name, protocol).length > 0;

/** The paths of a parameter in a protocol's body; generateContent spells each in two ways. */
function pathsOf(name: string, protocol: OfferProtocol): readonly string[] {
  const paths =
    (protocol === "converse" ? undefined : spellings[name]?.[protocol]) ??
    (protocol === "chat" ? name : []);
  const all = typeof paths === "string" ? [paths] : paths;
  return protocol === "generate_content" ? all.flatMap(bothCases) : all;
}

/** Each step of a path in camelCase and in snake_case: both are read on that endpoint. */
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

/** How a body spells a parameter; as its protocol does where it has none. */
export const spellingOf = (name: string, protocol: TextProtocol, body: WireObject): string => {
  const paths = pathsOf(name, protocol);
  return paths.find((path) => (valueAt(body, path) ?? null) !== null) ?? paths[0] ?? name;
};

/** A model's parameters, or those that hold at one of its offers. */
type Narrowed = Pick<TextModel, "id" | "parameters">;

/** What is wrong with a value; undefined where it lies in the domain. Types are the codecs' affair. */
export function domainFault(domain: Narrowing, value: unknown): string | undefined {
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
 * Takes out of a body what the model does not have, and notes what was set (ERR-12). `body` itself is never changed; it is also what
 * comes back where nothing is taken out.
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
      // Null is how SDKs say nothing.
      if (value !== null)
        notes.push({ param, kind: "dropped", detail: "not supported by this model, dropped" });
    }
  }
  return { body: kept, notes };
}

/** The parameters that a model lacks. Without tools there is nothing to choose from: vendors refuse the wish. */
function absentOf({ parameters }: Narrowed): readonly string[] {
  const names = Object.keys(parameters).filter((name) => parameters[name] === false);
  return names.includes("tools") ? [...names, "tool_choice", "parallel_tool_calls"] : names;
}

/** A copy without the member at `path`; everything beside the path is shared. */
function without(object: WireObject, path: readonly string[]): WireObject {
  const [step, ...rest] = path as [string, ...string[]];
  const copy = { ...object };
  const member = copy[step];
  if (rest.length === 0) delete copy[step];
  else if (isObject(member)) copy[step] = without(written(member), rest);
  return copy;
}

/** A member that is written anew: what stands in its objects and lists, such as schemas, as it was read. */
const written = (member: WireObject): WireObject =>
  Object.fromEntries(Object.entries(member).map(([key, value]) => [key, exactly(value)]));
