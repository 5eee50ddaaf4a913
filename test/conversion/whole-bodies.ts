/** Requests of all four protocols that together set every field that the gateway reads. Each can be converted to some protocol. */
import type { JsonObject, ProtocolName } from "../../src/protocols/index.ts";

const parameters = { type: "object", properties: { a: { type: "string" } } };
const pdf = "data:application/pdf;base64,AAAA";
const png = () => ({ type: "base64", media_type: "image/png", data: "AAAA" });

const chat: JsonObject = {
  model: "acme/x",
  models: ["acme/y"],
  messages: [
    { role: "system", content: "s", name: "n" },
    { role: "developer", content: [{ type: "text", text: "d" }] },
    { role: "user", name: "bob", content: "Hi" },
    {
      role: "assistant",
      content: [
        { type: "text", text: "ok" },
        { type: "refusal", refusal: "no" },
      ],
      refusal: "no",
      reasoning_content: "hm",
      tool_calls: [
        { id: "c1", type: "function", function: { name: "f", arguments: "{}" } },
        { id: "c2", type: "custom", custom: { name: "g", input: "x" } },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: "r" },
    { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "r" }] },
    {
      role: "assistant",
      content: "x",
      reasoning: "hm",
      reasoning_details: [{ type: "reasoning.text", text: "t" }],
    },
    { role: "user", content: "end" },
  ],
  max_completion_tokens: 200,
  max_tokens: 200,
  temperature: 1,
  top_p: 0.5,
  stop: ["x"],
  seed: 1,
  presence_penalty: 1,
  frequency_penalty: 1,
  logit_bias: { a: 1 },
  logprobs: true,
  top_logprobs: 2,
  n: 1,
  tools: [
    { type: "function", function: { name: "f", description: "d", parameters, strict: true } },
    {
      type: "custom",
      custom: {
        name: "g",
        description: "d",
        format: { type: "grammar", grammar: { syntax: "lark", definition: "start: x" } },
      },
    },
  ],
  tool_choice: {
    type: "allowed_tools",
    allowed_tools: {
      mode: "auto",
      tools: [
        { type: "function", function: { name: "f" } },
        { type: "custom", custom: { name: "g" } },
      ],
    },
  },
  parallel_tool_calls: true,
  response_format: {
    type: "json_schema",
    json_schema: { name: "n", description: "d", schema: parameters, strict: true },
  },
  reasoning_effort: "low",
  verbosity: "low",
  stream: false,
  stream_options: { include_usage: true, include_obfuscation: true },
  user: "u",
  safety_identifier: "s",
  prompt_cache_key: "k",
  prompt_cache_options: { ttl: "30m", mode: "explicit" },
  prompt_cache_retention: "24h",
  store: true,
  metadata: { a: "b" },
  prediction: { type: "content", content: "x" },
  modalities: ["text"],
  audio: { voice: "a", format: "wav" },
  web_search_options: { search_context_size: "low" },
};

const said = (role: string, ...content: JsonObject[]) => ({ role, content });

const chatOf = (...content: JsonObject[]): JsonObject => ({
  model: "acme/x",
  messages: [said("user", { type: "text", text: "Hi" }, ...content)],
});

const responses: JsonObject = {
  model: "acme/x",
  input: [
    { type: "message", role: "system", content: "s" },
    { role: "developer", content: "d" },
    { type: "message", ...said("user", { type: "input_text", text: "Hi" }) },
    {
      type: "reasoning",
      id: "r",
      summary: [{ type: "summary_text", text: "s" }],
      content: [{ type: "reasoning_text", text: "t" }],
      encrypted_content: "e",
    },
    {
      type: "message",
      ...said("assistant", { type: "output_text", text: "x" }, { type: "refusal", refusal: "no" }),
    },
    { type: "function_call", call_id: "c1", name: "f", arguments: "{}", namespace: "ns" },
    { type: "custom_tool_call", call_id: "c2", name: "g", input: "x" },
    { type: "function_call_output", call_id: "c1", output: "r" },
    {
      type: "custom_tool_call_output",
      call_id: "c2",
      output: [{ type: "input_text", text: "x" }],
    },
    { type: "message", role: "user", content: "end" },
  ],
  instructions: "i",
  max_output_tokens: 200,
  temperature: 1,
  top_p: 0.5,
  stream: false,
  tools: [
    { type: "function", name: "f", description: "d", parameters, strict: true },
    {
      type: "custom",
      name: "g",
      description: "d",
      format: { type: "grammar", syntax: "lark", definition: "start: x" },
    },
    {
      type: "namespace",
      name: "ns",
      description: "d",
      tools: [
        { type: "function", name: "f", description: "d", parameters, strict: true },
        { type: "custom", name: "g", description: "d" },
      ],
    },
  ],
  tool_choice: {
    type: "allowed_tools",
    mode: "auto",
    tools: [
      { type: "function", name: "f" },
      { type: "custom", name: "g" },
      { type: "function", name: "f", namespace: "ns" },
    ],
  },
  parallel_tool_calls: true,
  text: {
    format: { type: "json_schema", name: "n", description: "d", schema: parameters, strict: true },
    verbosity: "low",
  },
  reasoning: {
    effort: "low",
    summary: "auto",
    generate_summary: "auto",
    mode: "pro",
    context: "auto",
  },
  stream_options: { include_obfuscation: true },
  user: "u",
  safety_identifier: "s",
  prompt_cache_key: "k",
  prompt_cache_options: { ttl: "30m", mode: "explicit" },
  prompt_cache_retention: "24h",
  metadata: { a: "b" },
  store: true,
  presence_penalty: 1,
  frequency_penalty: 1,
  include: ["x"],
  top_logprobs: 2,
  max_tool_calls: 3,
  truncation: "auto",
  background: false,
  previous_response_id: "p",
};

const responsesOf = (...input: JsonObject[]): JsonObject => ({
  model: "acme/x",
  input: [{ role: "user", content: "Hi" }, ...input, { role: "user", content: "end" }],
});

const messages: JsonObject = {
  model: "acme/x",
  max_tokens: 2000,
  system: [{ type: "text", text: "s", cache_control: { type: "ephemeral", ttl: "5m" } }],
  messages: [
    said(
      "user",
      { type: "text", text: "Hi", cache_control: { type: "ephemeral", ttl: "5m" } },
      { type: "image", source: png() },
    ),
    said(
      "assistant",
      { type: "thinking", thinking: "hm", signature: "sig" },
      { type: "redacted_thinking", data: "zz" },
      { type: "text", text: "x" },
      { type: "tool_use", id: "c1", name: "f", input: { a: "b" } },
    ),
    said("user", {
      type: "tool_result",
      tool_use_id: "c1",
      is_error: true,
      content: [
        { type: "text", text: "r" },
        { type: "image", source: png() },
      ],
    }),
    { role: "assistant", content: "ok" },
    { role: "user", content: "end" },
  ],
  stop_sequences: ["x"],
  stream: false,
  temperature: 1,
  top_p: 0.5,
  top_k: 3,
  metadata: { user_id: "u" },
  tools: [
    { name: "f", description: "d", input_schema: parameters, strict: true, type: "custom" },
    { type: "web_search_20250305", name: "web_search", max_uses: 3 },
  ],
  tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
  thinking: { type: "enabled", budget_tokens: 1024, display: "summarized" },
  output_config: { effort: "low", format: { type: "json_schema", schema: parameters } },
  cache_control: { type: "ephemeral", ttl: "5m" },
};

const messagesOf = (...content: JsonObject[]): JsonObject => ({
  model: "acme/x",
  max_tokens: 2000,
  messages: [said("user", { type: "text", text: "Hi" }, ...content)],
});

const generate: JsonObject = {
  systemInstruction: { parts: [{ text: "s" }] },
  contents: [
    { role: "user", parts: [{ text: "Hi" }] },
    {
      role: "model",
      parts: [
        { text: "th", thought: true, thoughtSignature: "sig" },
        { functionCall: { id: "c", name: "f", args: { a: "b" } }, thoughtSignature: "sig" },
      ],
    },
    {
      role: "user",
      parts: [
        {
          functionResponse: {
            id: "c",
            name: "f",
            response: { output: "x" },
            parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }],
          },
        },
      ],
    },
    { role: "user", parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] },
  ],
  tools: [
    {
      functionDeclarations: [
        { name: "f", description: "d", parameters: { type: "OBJECT" } },
        { name: "g", description: "d", parametersJsonSchema: parameters },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f", "g"] } },
  generationConfig: {
    temperature: 1,
    topP: 0.5,
    topK: 3,
    candidateCount: 1,
    maxOutputTokens: 200,
    stopSequences: ["x"],
    seed: 1,
    presencePenalty: 1,
    frequencyPenalty: 1,
    responseMimeType: "application/json",
    responseSchema: { type: "OBJECT" },
    responseModalities: ["TEXT"],
    responseLogprobs: true,
    logprobs: 2,
    thinkingConfig: { includeThoughts: true, thinkingBudget: 1024, thinkingLevel: "LOW" },
  },
  safetySettings: [{ category: "X", threshold: "Y" }],
  store: true,
};

/** Per protocol: one body with nearly all fields, and others for fields that exclude those. */
export const wholeBodies: Readonly<Record<ProtocolName, readonly JsonObject[]>> = {
  chat: [
    chat,
    chatOf({ type: "image_url", image_url: { url: "https://a.example/x.png", detail: "low" } }),
    chatOf({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }),
    chatOf({ type: "file", file: { file_data: pdf, filename: "f.pdf" } }),
    chatOf({ type: "file", file: { file_id: "f" } }),
    {
      ...chatOf(),
      functions: [{ name: "f", description: "d", parameters }],
      function_call: { name: "f" },
    },
    {
      ...chatOf(),
      tools: chat["tools"]!,
      tool_choice: { type: "custom", custom: { name: "g" } },
    },
  ],
  responses: [
    responses,
    responsesOf(said("user", { type: "input_image", image_url: pdf, detail: "low" })),
    responsesOf(said("user", { type: "input_image", file_id: "f" })),
    responsesOf(said("user", { type: "input_file", file_data: pdf, filename: "f.pdf" })),
    responsesOf(said("user", { type: "input_file", file_url: "https://a.example/f.pdf" })),
    responsesOf(said("user", { type: "input_file", file_id: "f" })),
    responsesOf(
      said("user", { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }),
    ),
    responsesOf({ type: "image_generation_call", id: "i", result: "AAAA", output_format: "png" }),
    {
      ...responsesOf(),
      tools: responses["tools"]!,
      tool_choice: { type: "function", name: "f", namespace: "ns" },
    },
  ],
  messages: [
    messages,
    messagesOf({ type: "image", source: { type: "url", url: "https://a.example/x.png" } }),
    messagesOf({ type: "image", source: { type: "file", file_id: "f" } }),
    messagesOf({
      type: "document",
      title: "t",
      context: "c",
      source: { type: "text", media_type: "text/plain", data: "doc" },
    }),
    messagesOf({
      type: "document",
      source: {
        type: "content",
        content: [
          { type: "text", text: "doc" },
          { type: "image", source: png() },
        ],
      },
    }),
    messagesOf({
      type: "search_result",
      source: "https://a.example",
      title: "t",
      content: [{ type: "text", text: "found" }],
    }),
  ],
  generate_content: [
    generate,
    {
      contents: [
        { role: "user", parts: [{ fileData: { mimeType: "video/mp4", fileUri: "gs://a/b" } }] },
      ],
    },
  ],
};
