/** Answers with every field that their vendors may send and no other protocol has. */
import { upstreamModel as model, type Body, type Protocol } from "./support.ts";

const chat: Body = {
  id: "chatcmpl-rich",
  object: "chat.completion",
  created: 7,
  model,
  system_fingerprint: "fp_1",
  citations: ["https://example.com/tern"],
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: "Terns fly far.",
        refusal: null,
        reasoning_content: "Birds.",
        annotations: [
          {
            type: "url_citation",
            url_citation: { start_index: 0, end_index: 5, title: "T", url: "https://example.com" },
          },
        ],
        audio: { id: "audio_1", data: "UklGRg==", transcript: "Terns fly far.", expires_at: 9 },
      },
      logprobs: {
        content: [{ token: "Terns", logprob: -0.5, bytes: null, top_logprobs: [] }],
        refusal: [],
      },
      finish_reason: "stop",
      content_filter_results: { hate: { filtered: false, severity: "safe" } },
    },
    {
      index: 1,
      message: {
        role: "assistant",
        content: null,
        refusal: null,
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
          { id: "call_2", type: "function", function: { name: "g", arguments: "{}" } },
        ],
      },
      logprobs: null,
      finish_reason: "tool_calls",
    },
  ],
  usage: {
    prompt_tokens: 60,
    completion_tokens: 20,
    total_tokens: 80,
    prompt_tokens_details: { cached_tokens: 40, audio_tokens: 8 },
    completion_tokens_details: { reasoning_tokens: 5, audio_tokens: 9 },
  },
};

const responses: Body = {
  id: "resp_rich",
  object: "response",
  created_at: 7,
  model,
  status: "completed",
  output: [
    {
      type: "reasoning",
      id: "rs_1",
      summary: [
        { type: "summary_text", text: "One." },
        { type: "summary_text", text: "Two." },
      ],
      encrypted_content: "c2VjcmV0",
    },
    {
      type: "web_search_call",
      id: "ws_1",
      status: "completed",
      action: { type: "search", query: "terns" },
    },
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      phase: "final_answer",
      content: [
        {
          type: "output_text",
          text: "Terns fly far.",
          annotations: [
            {
              type: "url_citation",
              start_index: 0,
              end_index: 5,
              title: "T",
              url: "https://example.com",
            },
          ],
          logprobs: [],
        },
      ],
    },
    {
      type: "function_call",
      id: "fc_1",
      call_id: "call_1",
      name: "f",
      arguments: '{"a":1}',
      status: "completed",
    },
    {
      type: "custom_tool_call",
      id: "ctc_1",
      call_id: "call_2",
      name: "patch",
      input: "*** Begin",
      status: "completed",
    },
    { type: "image_generation_call", id: "ig_1", status: "completed", result: "iVBORw0K" },
  ],
  usage: {
    input_tokens: 60,
    input_tokens_details: { cached_tokens: 40, cache_write_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 80,
  },
};

export const message: Body = {
  id: "msg_rich",
  type: "message",
  role: "assistant",
  model,
  content: [
    { type: "thinking", thinking: "Birds.", signature: "c2ln" },
    { type: "redacted_thinking", data: "c2VjcmV0" },
    { type: "text", text: "I look." },
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "terns" } },
    {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [
        {
          type: "web_search_result",
          title: "T",
          url: "https://example.com",
          encrypted_content: "eA==",
          page_age: null,
        },
      ],
    },
    {
      type: "text",
      text: "Terns fly far.",
      citations: [
        {
          type: "web_search_result_location",
          cited_text: "far",
          encrypted_index: "eQ==",
          title: "T",
          url: "https://example.com",
        },
      ],
    },
    { type: "tool_use", id: "toolu_1", name: "f", input: { a: [1, { b: "c" }] } },
    { type: "tool_use", id: "toolu_2", name: "g", input: {} },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  container: { id: "container_1", expires_at: "2026-11-27T00:00:00Z" },
  context_management: { applied_edits: [] },
  usage: {
    input_tokens: 60,
    cache_read_input_tokens: 40,
    cache_creation_input_tokens: 0,
    output_tokens: 20,
    server_tool_use: { web_search_requests: 1 },
  },
};

const generateContent: Body = {
  candidates: [
    {
      content: {
        role: "model",
        parts: [
          { text: "Birds.", thought: true },
          { executableCode: { language: "PYTHON", code: "print(1)" } },
          { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
          { text: "Terns fly far.", thoughtSignature: "c2ln" },
          { functionCall: { id: "1", name: "f", args: { a: 1 } } },
        ],
      },
      finishReason: "STOP",
      index: 0,
      groundingMetadata: { webSearchQueries: ["terns"] },
      safetyRatings: [{ category: "HARM_CATEGORY_HATE_SPEECH", probability: "NEGLIGIBLE" }],
    },
    {
      content: { role: "model", parts: [{ text: "Another." }] },
      finishReason: "MAX_TOKENS",
      index: 1,
    },
  ],
  usageMetadata: {
    promptTokenCount: 60,
    cachedContentTokenCount: 40,
    candidatesTokenCount: 15,
    thoughtsTokenCount: 5,
    totalTokenCount: 80,
    promptTokensDetails: [{ modality: "AUDIO", tokenCount: 8 }],
  },
  modelVersion: model,
  responseId: "resp-rich",
};

export const rich: Readonly<Record<Protocol, Body>> = {
  chat,
  responses,
  messages: message,
  generate_content: generateContent,
};
