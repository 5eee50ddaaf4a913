/** Valid bodies that use as much of each protocol as one body can: the seeds of the fuzzer. */
import type { Entry } from "./support.ts";

const schema = {
  type: "object",
  properties: { city: { type: "string", enum: ["a", "b"] }, days: { type: "integer" } },
  required: ["city"],
};
const picture = "data:image/png;base64,iVBORw0KGgo=";

export const seeds: Record<Entry["name"], readonly object[]> = {
  chat: [
    {
      model: "acme/talk",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Look" },
            { type: "image_url", image_url: { url: picture, detail: "low" } },
          ],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: "call_1",
              type: "function",
              function: { name: "look", arguments: '{"city":"a"}' },
            },
          ],
        },
        { role: "tool", tool_call_id: "call_1", content: "rain" },
      ],
      tools: [
        { type: "function", function: { name: "look", description: "d", parameters: schema } },
      ],
      tool_choice: { type: "function", function: { name: "look" } },
      parallel_tool_calls: false,
      max_completion_tokens: 100,
      temperature: 1,
      top_p: 0.9,
      stop: ["a", "b"],
      n: 2,
      seed: 1,
      logprobs: true,
      top_logprobs: 2,
      logit_bias: { "1": 1 },
      response_format: { type: "json_schema", json_schema: { name: "s", schema } },
      reasoning_effort: "low",
      verbosity: "low",
      user: "u",
      metadata: { a: "b" },
      service_tier: "flex",
      stream: true,
      stream_options: { include_usage: true },
    },
  ],
  responses: [
    {
      model: "acme/talk",
      instructions: "Be brief.",
      input: [
        { role: "user", content: [{ type: "input_text", text: "Look" }] },
        { type: "message", role: "user", content: [{ type: "input_image", image_url: picture }] },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" },
        { type: "function_call", call_id: "call_1", name: "look", arguments: '{"city":"a"}' },
        { type: "function_call_output", call_id: "call_1", output: "rain" },
      ],
      tools: [{ type: "function", name: "look", parameters: schema, strict: true }],
      tool_choice: { type: "function", name: "look" },
      parallel_tool_calls: true,
      max_output_tokens: 100,
      temperature: 1,
      top_p: 0.9,
      text: { format: { type: "json_schema", name: "s", schema }, verbosity: "low" },
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      store: false,
      metadata: { a: "b" },
      user: "u",
      prompt_cache_key: "k",
      truncation: "auto",
      service_tier: "flex",
      stream: true,
      stream_options: { include_obfuscation: false },
    },
  ],
  messages: [
    {
      model: "acme/talk",
      max_tokens: 100,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look" },
            {
              type: "image",
              source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
            },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "s" },
            { type: "tool_use", id: "toolu_1", name: "look", input: { city: "a" } },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "toolu_1",
              content: [{ type: "text", text: "rain" }],
            },
          ],
        },
      ],
      tools: [{ name: "look", description: "d", input_schema: schema }],
      tool_choice: { type: "tool", name: "look", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 1024 },
      temperature: 1,
      top_k: 5,
      stop_sequences: ["a"],
      metadata: { user_id: "u" },
      service_tier: "auto",
      stream: true,
    },
  ],
  generate_content: [
    {
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [
        {
          role: "user",
          parts: [
            { text: "Look" },
            { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } },
            { fileData: { mimeType: "image/png", fileUri: "https://example.com/a.png" } },
          ],
        },
        {
          role: "model",
          parts: [
            { functionCall: { name: "look", args: { city: "a" } }, thoughtSignature: "cw==" },
          ],
        },
        {
          role: "user",
          parts: [{ functionResponse: { name: "look", response: { output: "rain" } } }],
        },
      ],
      tools: [{ functionDeclarations: [{ name: "look", description: "d", parameters: schema }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look"] } },
      generationConfig: {
        maxOutputTokens: 100,
        temperature: 1,
        topP: 0.9,
        topK: 5,
        candidateCount: 2,
        stopSequences: ["a"],
        responseMimeType: "application/json",
        responseSchema: schema,
        thinkingConfig: { thinkingBudget: 100, includeThoughts: true },
      },
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      serviceTier: "flex",
    },
  ],
};
