/** Requests of each protocol with any of its parameters, and with all of them. */
import * as fc from "fast-check";
import type { JsonObject, ProtocolName } from "../../src/protocols/index.ts";

type Values = Readonly<Record<string, readonly unknown[]>>;

const schema = { type: "object", properties: { a: { type: "string" } } };
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max", "much"];

const chat: Values = {
  max_tokens: [4000],
  max_completion_tokens: [3000],
  temperature: [0, 0.7],
  top_p: [0.9],
  top_k: [40],
  stop: ["END", ["a", "b"]],
  seed: [7],
  presence_penalty: [0.5],
  frequency_penalty: [0.5],
  n: [1],
  logit_bias: [{ 50: 1 }],
  logprobs: [true],
  top_logprobs: [2],
  tools: [[{ type: "function", function: { name: "look", parameters: schema } }]],
  tool_choice: ["auto", "none", "required", { type: "function", function: { name: "look" } }],
  parallel_tool_calls: [false],
  response_format: [
    { type: "json_object" },
    { type: "json_schema", json_schema: { name: "a", schema } },
  ],
  reasoning_effort: efforts,
  verbosity: ["low"],
  store: [false],
  metadata: [{ a: "b" }],
  user: ["me"],
  safety_identifier: ["me"],
  prompt_cache_key: ["key"],
  prompt_cache_retention: ["24h"],
};

const responses: Values = {
  instructions: ["be brief"],
  max_output_tokens: [3000],
  temperature: [0.7],
  top_p: [0.9],
  top_logprobs: [2],
  presence_penalty: [0.5],
  frequency_penalty: [0.5],
  tools: [[{ type: "function", name: "look", parameters: schema }]],
  tool_choice: ["auto", "none", "required", { type: "function", name: "look" }],
  parallel_tool_calls: [false],
  text: [{ verbosity: "low", format: { type: "json_schema", name: "a", schema } }],
  reasoning: [
    ...efforts.map((effort) => ({ effort })),
    { effort: "none", summary: "auto" },
    { effort: "max", summary: "detailed", context: "auto" },
  ],
  truncation: ["auto"],
  include: [["reasoning.encrypted_content"]],
  previous_response_id: ["resp_1"],
  store: [false],
  metadata: [{ a: "b" }],
  user: ["me"],
  prompt_cache_key: ["key"],
};

const messages: Values = {
  system: ["be brief"],
  temperature: [0.7],
  top_p: [0.9],
  top_k: [40],
  stop_sequences: [["END"]],
  tools: [[{ name: "look", input_schema: schema }]],
  tool_choice: [
    { type: "auto", disable_parallel_tool_use: true },
    { type: "none" },
    { type: "any" },
    { type: "tool", name: "look" },
  ],
  thinking: [
    { type: "enabled", budget_tokens: 2000 },
    { type: "enabled", budget_tokens: 1024, display: "omitted" },
    { type: "adaptive", display: "summarized" },
    { type: "disabled" },
    { type: "between_tools" },
  ],
  output_config: [
    ...efforts.map((effort) => ({ effort })),
    { effort: "max", format: { type: "json_schema", schema } },
  ],
  metadata: [{ user_id: "me" }],
  cache_control: [{ type: "ephemeral" }],
};

const thinkingConfigs = [
  ...["MINIMAL", "LOW", "MEDIUM", "HIGH", "MUCH"].map((thinkingLevel) => ({ thinkingLevel })),
  ...[0, -1, 128, 4000, 100_000].map((thinkingBudget) => ({ thinkingBudget })),
  { thinkingLevel: "LOW", thinkingBudget: 512, includeThoughts: true },
];
const config = {
  maxOutputTokens: 3000,
  temperature: 0.7,
  topP: 0.9,
  topK: 40,
  stopSequences: ["END"],
  seed: 7,
  presencePenalty: 0.5,
  frequencyPenalty: 0.5,
  candidateCount: 1,
  responseLogprobs: true,
  logprobs: 2,
  responseMimeType: "application/json",
  responseJsonSchema: schema,
};

const generateContent: Values = {
  systemInstruction: [{ parts: [{ text: "be brief" }] }],
  generationConfig: [
    {},
    config,
    ...thinkingConfigs.map((thinkingConfig) => ({ ...config, thinkingConfig })),
  ],
  tools: [[{ functionDeclarations: [{ name: "look", parametersJsonSchema: schema }] }]],
  toolConfig: ["AUTO", "NONE", "ANY"].map((mode) => ({ functionCallingConfig: { mode } })),
  safetySettings: [[{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }]],
  labels: [{ a: "b" }],
  store: [false],
};

const values: Readonly<Record<ProtocolName, Values>> = {
  chat,
  responses,
  messages,
  generate_content: generateContent,
};

const prompts: Readonly<Record<ProtocolName, readonly JsonObject[]>> = {
  chat: [
    { messages: [{ role: "user", content: "hi" }] },
    {
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "well" },
      ],
    },
  ],
  responses: [{ input: "hi" }, { input: [{ role: "user", content: "hi" }] }],
  messages: [
    { max_tokens: 4000, messages: [{ role: "user", content: "hi" }] },
    {
      max_tokens: 4000,
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "well" },
      ],
    },
  ],
  generate_content: [
    { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    {
      contents: [
        { role: "user", parts: [{ text: "hi" }] },
        { role: "model", parts: [{ text: "well" }] },
      ],
    },
  ],
};

/** If the body has no model, the path names it. */
const named = (protocol: ProtocolName): JsonObject =>
  protocol === "generate_content" ? {} : { model: "acme/talk" };

/** A request with every parameter of its protocol, each with its first value, and nothing that the gateway may refuse. */
export function fullRequest(protocol: ProtocolName): JsonObject {
  const all = Object.entries(values[protocol]).map(([name, [first]]) => [name, first]);
  return {
    ...(Object.fromEntries(all) as JsonObject),
    ...named(protocol),
    ...prompts[protocol][0],
  };
}

/** Requests with any of the parameters and any of their values. */
export function anyRequest(protocol: ProtocolName): fc.Arbitrary<JsonObject> {
  const members = Object.entries(values[protocol]).map(
    ([name, [...each]]) => [name, fc.constantFrom(...each)] as const,
  );
  return fc
    .tuple(
      fc.record(Object.fromEntries(members), { requiredKeys: [] }),
      fc.constantFrom(...prompts[protocol]),
    )
    .map(([parameters, prompt]) => ({
      ...named(protocol),
      ...(parameters as JsonObject),
      ...prompt,
    }));
}
