/**
 * Requests that contain every nested object of their protocol that can be converted, for tests that insert members into each. No
 * conversion refuses any of them.
 */
import type { JsonObject, ProtocolName } from "../../src/protocols/index.ts";

const png = "iVBORw0KGgo=";
const person = {
  type: "object",
  properties: { name: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
  required: ["name"],
};
const marker = { type: "ephemeral", ttl: "1h" };

const chat: JsonObject[] = [
  {
    model: "acme/talk",
    messages: [
      { role: "developer", content: [{ type: "text", text: "Rules.", cache_control: marker }] },
      {
        role: "user",
        name: "ada",
        content: [
          { type: "text", text: "See", cache_control: marker },
          { type: "image_url", image_url: { url: `data:image/png;base64,${png}`, detail: "high" } },
        ],
      },
      {
        role: "assistant",
        content: [{ type: "text", text: "I look." }],
        reasoning: "Hm.",
        reasoning_details: [
          { type: "reasoning.text", text: "Hm.", signature: "c2ln", format: "unknown", index: 0 },
        ],
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "look", arguments: '{"q":1}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "found" }] },
      { role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
      { role: "user", content: "Go on." },
    ],
    tools: [
      {
        type: "function",
        function: { name: "look", description: "Looks", parameters: person, strict: true },
      },
    ],
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "look" } }] },
    },
    response_format: {
      type: "json_schema",
      json_schema: { name: "person", description: "One", strict: true, schema: person },
    },
    metadata: { trace: "1" },
    stream_options: { include_usage: true },
    prompt_cache_options: { mode: "explicit" },
    moderation: { model: "m", policy: { input: { mode: "score" } } },
    prediction: { type: "content", content: [{ type: "text", text: "{}" }] },
    logit_bias: { "5": 1 },
    audio: { voice: "alloy", format: "wav" },
    web_search_options: { user_location: { type: "approximate", approximate: { city: "Ulm" } } },
  },
  {
    model: "acme/talk",
    messages: [
      { role: "user", content: [{ type: "file", file: { filename: "a", file_data: "JVBERi0=" } }] },
      { role: "assistant", content: null, function_call: { name: "look", arguments: "{}" } },
      { role: "function", name: "look", content: "found" },
    ],
    functions: [{ name: "look", description: "Looks", parameters: person }],
    function_call: { name: "look" },
    response_format: { type: "json_object" },
  },
  {
    model: "acme/talk",
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ type: "function", function: { name: "look" } }],
    tool_choice: { type: "function", function: { name: "look" } },
    response_format: { type: "text" },
  },
  // Audio and images: some protocols take only one of them.
  {
    model: "acme/talk",
    messages: [
      {
        role: "user",
        content: [
          { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
        ],
      },
    ],
  },
  {
    model: "acme/talk",
    messages: [
      {
        role: "user",
        content: [
          { type: "video_url", video_url: { url: "data:video/mp4;base64,AAAA" } },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
        ],
      },
    ],
  },
];

const responses: JsonObject[] = [
  {
    model: "acme/talk",
    instructions: "Be brief.",
    input: [
      { role: "developer", content: [{ type: "input_text", text: "Rules." }] },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "See" },
          { type: "input_image", image_url: `data:image/png;base64,${png}`, detail: "low" },
        ],
      },
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "Hm." }],
        content: [{ type: "reasoning_text", text: "Hm, hm." }],
        encrypted_content: "gAAAA==",
      },
      { type: "function_call", call_id: "call_1", name: "look", arguments: '{"q":1}', id: "fc_1" },
      {
        type: "function_call_output",
        call_id: "call_1",
        output: [{ type: "input_text", text: "one" }],
      },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [
          {
            type: "output_text",
            text: "One.",
            annotations: [{ type: "url_citation", url: "https://a", title: "A" }],
            logprobs: [{ token: "One", logprob: -1, bytes: [1], top_logprobs: [] }],
          },
          { type: "refusal", refusal: "No." },
        ],
      },
      { role: "user", content: "Go on." },
    ],
    tools: [
      { type: "function", name: "look", description: "Looks", parameters: person, strict: true },
      { type: "web_search", user_location: { type: "approximate" } },
    ],
    tool_choice: {
      type: "allowed_tools",
      mode: "auto",
      tools: [{ type: "function", name: "look" }],
    },
    text: {
      format: { type: "json_schema", name: "person", schema: person, strict: true },
      verbosity: "low",
    },
    reasoning: { effort: "low", summary: "auto" },
    metadata: { trace: "1" },
    stream_options: { include_obfuscation: false },
    prompt_cache_options: { mode: "explicit" },
    context_management: [{ type: "compaction", compact_threshold: 1 }],
    prompt: { id: "p", variables: { city: "Ulm" } },
    moderation: { model: "m", policy: { input: { mode: "score" } } },
  },
  {
    model: "acme/talk",
    input: [{ role: "user", content: [{ type: "input_file", file_data: "JVBERi0=" }] }],
    tools: [{ type: "function", name: "look", parameters: person }],
    tool_choice: { type: "function", name: "look" },
    text: { format: { type: "json_object" } },
  },
  { model: "acme/talk", input: "Hi", text: { format: { type: "text" } } },
];

const messages: JsonObject[] = [
  {
    model: "acme/talk",
    max_tokens: 5000,
    system: [{ type: "text", text: "Rules.", cache_control: marker }],
    messages: [
      {
        role: "user",
        content: [
          {
            type: "image",
            source: { type: "base64", media_type: "image/png", data: png },
            cache_control: marker,
          },
          { type: "text", text: "Which?", cache_control: marker },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "c2ln" },
          { type: "redacted_thinking", data: "c2VjcmV0" },
          { type: "text", text: "I look." },
          { type: "tool_use", id: "t_1", name: "look", input: { q: { r: 1 } } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "t_1",
            is_error: true,
            cache_control: marker,
            content: [
              { type: "text", text: "one" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
            ],
          },
        ],
      },
    ],
    tools: [
      {
        name: "look",
        description: "Looks",
        input_schema: person,
        strict: true,
        cache_control: marker,
      },
      { type: "web_search_20250305", name: "web_search", user_location: { type: "approximate" } },
    ],
    tool_choice: { type: "tool", name: "look", disable_parallel_tool_use: true },
    thinking: { type: "enabled", budget_tokens: 2048, display: "omitted" },
    metadata: { user_id: "user-1" },
    output_config: { effort: "high", format: { type: "json_schema", schema: person } },
    cache_control: marker,
    context_management: { edits: [{ type: "clear_tool_uses_20250919", keep: { value: 3 } }] },
  },
  {
    model: "acme/talk",
    max_tokens: 5000,
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
          { type: "text", text: "Which?" },
        ],
      },
    ],
    thinking: { type: "adaptive" },
    tool_choice: { type: "auto" },
    tools: [{ type: "custom", name: "look", input_schema: {} }],
  },
  {
    model: "acme/talk",
    max_tokens: 5000,
    messages: [
      {
        role: "user",
        content: [
          {
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
            title: "A",
            citations: { enabled: true },
          },
          { type: "text", text: "Which?" },
        ],
      },
    ],
    thinking: { type: "disabled" },
    tools: [{ name: "look", input_schema: {} }],
    tool_choice: { type: "any" },
  },
  {
    model: "acme/talk",
    max_tokens: 5000,
    messages: [{ role: "user", content: "Hi" }],
    thinking: { type: "between_tools" },
    tools: [{ name: "look", input_schema: {} }],
    tool_choice: { type: "none" },
  },
];

const generateContent: JsonObject[] = [
  {
    systemInstruction: { role: "user", parts: [{ text: "Rules." }] },
    contents: [
      {
        role: "user",
        parts: [{ text: "See" }, { inlineData: { mimeType: "image/png", data: png } }],
      },
      {
        role: "model",
        parts: [
          { text: "Hm.", thought: true, thoughtSignature: "c2ln" },
          {
            functionCall: { id: "fc_1", name: "look", args: { q: { r: 1 } } },
            thoughtSignature: "c2ln",
          },
        ],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              id: "fc_1",
              name: "look",
              response: { output: { b: 1 } },
              parts: [{ inlineData: { mimeType: "image/png", data: png } }],
            },
          },
        ],
      },
    ],
    tools: [
      {
        functionDeclarations: [
          { name: "look", description: "Looks", parametersJsonSchema: person },
          { name: "see", parameters: { type: "OBJECT", properties: { q: { type: "STRING" } } } },
        ],
      },
      { googleSearch: {} },
    ],
    toolConfig: {
      functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look", "see"] },
      retrievalConfig: { latLng: { latitude: 1, longitude: 2 } },
    },
    generationConfig: {
      responseMimeType: "application/json",
      responseJsonSchema: person,
      thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" },
      imageConfig: { aspectRatio: "1:1" },
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
    },
    safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    labels: { team: "a" },
  },
  {
    system_instruction: { parts: [{ text: "Rules." }] },
    contents: [{ role: "user", parts: [{ inline_data: { mime_type: "image/png", data: png } }] }],
    tools: [{ function_declarations: [{ name: "look", parameters: { type: "OBJECT" } }] }],
    tool_config: { function_calling_config: { mode: "VALIDATED" } },
    generation_config: {
      response_mime_type: "application/json",
      response_schema: { type: "OBJECT", properties: { name: { type: "STRING" } } },
      thinking_config: { thinking_budget: 100 },
    },
  },
  {
    contents: [
      {
        role: "user",
        parts: [
          { text: "See" },
          { fileData: { fileUri: "https://example.com/a.png", mimeType: "image/png" } },
        ],
      },
    ],
  },
  { contents: [{ parts: [{ text: "Hi" }] }], generationConfig: { responseMimeType: "text/plain" } },
];

export const fullRequests: Readonly<Record<ProtocolName, readonly JsonObject[]>> = {
  chat,
  responses,
  messages,
  generate_content: generateContent,
};
