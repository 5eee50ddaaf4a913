/** Rich requests of the `openai` SDK: every field that a direct route must carry, in no particular order. */
import OpenAI from "openai";
import { drain, person, picture, type Send } from "./rich.ts";

export const chat: Send = async (url, apiKey, model, stream) => {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  const params: OpenAI.ChatCompletionCreateParamsNonStreaming = {
    messages: [
      {
        role: "developer",
        content: [{ type: "text", text: "Answer in JSON. Ümläute, \u2028 and \u0000 too." }],
      },
      {
        role: "user",
        name: "ada",
        content: [
          { type: "text", text: "Who is this?" },
          {
            type: "image_url",
            image_url: { url: `data:image/png;base64,${picture}`, detail: "high" },
          },
          { type: "image_url", image_url: { url: "https://example.com/a.png?x=1&y=2" } },
          {
            type: "file",
            file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
          },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: "call_1",
            type: "function",
            function: { name: "look_up", arguments: '{ "q" : "a b" }' },
          },
          { id: "call_2", type: "custom", custom: { name: "shell", input: "ls -la" } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "found" }] },
      { role: "tool", tool_call_id: "call_2", content: "" },
      { role: "assistant", content: [{ type: "refusal", refusal: "No." }], refusal: "No." },
      { role: "user", content: "Then tell." },
    ],
    model,
    max_completion_tokens: 2000,
    temperature: 0.7,
    top_p: 0.95,
    n: 2,
    stop: ["\n\n", "END"],
    seed: -7,
    presence_penalty: -0.5,
    frequency_penalty: 0.25,
    logit_bias: { "50256": -100, "11": 5 },
    logprobs: true,
    top_logprobs: 3,
    tools: [
      {
        type: "function",
        function: {
          name: "look_up",
          description: "Looks up",
          strict: true,
          parameters: { ...person, $defs: { z: {}, a: {} } },
        },
      },
      {
        type: "custom",
        custom: {
          name: "shell",
          format: { type: "grammar", grammar: { syntax: "lark", definition: 'start: "ls"' } },
        },
      },
    ],
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "look_up" } }] },
    },
    parallel_tool_calls: false,
    response_format: {
      type: "json_schema",
      json_schema: { name: "person", strict: true, schema: person },
    },
    reasoning_effort: "minimal",
    verbosity: "low",
    user: "user-1",
    safety_identifier: "hash-1",
    prompt_cache_key: "cache-1",
    store: true,
    metadata: { z: "26", a: "1" },
    prediction: { type: "content", content: [{ type: "text", text: "{}" }] },
    modalities: ["text", "audio"],
    audio: { voice: "alloy", format: "wav" },
    web_search_options: {
      search_context_size: "low",
      user_location: { type: "approximate", approximate: { city: "Köln" } },
    },
    service_tier: "flex",
  };
  if (stream)
    await drain(
      await client.chat.completions.create({
        ...params,
        stream,
        stream_options: { include_obfuscation: false },
      }),
    );
  else await client.chat.completions.create(params);
};

export const responses: Send = async (url, apiKey, model, stream) => {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  const params: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
    model,
    instructions: "Be brief.",
    input: [
      { role: "developer", content: "Rules." },
      {
        role: "user",
        content: [
          { type: "input_text", text: "See" },
          {
            type: "input_image",
            image_url: `data:image/png;base64,${picture}`,
            detail: "original",
          },
          { type: "input_file", file_url: "https://example.com/a.pdf" },
        ],
      },
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "Hm." }],
        encrypted_content: "gAAAA==",
      },
      {
        type: "function_call",
        call_id: "call_1",
        name: "look_up",
        arguments: '{"q":1}',
        id: "fc_1",
        status: "completed",
      },
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
        content: [{ type: "output_text", text: "One.", annotations: [] }],
      },
      { type: "item_reference", id: "msg_0" },
      { role: "user", content: "Go on." },
    ],
    include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
    max_output_tokens: 1000,
    max_tool_calls: 3,
    temperature: 1.2,
    top_p: 0.5,
    top_logprobs: 2,
    tools: [
      {
        type: "function",
        name: "look_up",
        description: "Looks up",
        parameters: person,
        strict: true,
      },
      { type: "web_search", search_context_size: "low" },
      { type: "file_search", vector_store_ids: ["vs_1"], max_num_results: 4 },
      { type: "code_interpreter", container: { type: "auto" } },
      {
        type: "mcp",
        server_label: "docs",
        server_url: "https://mcp.example.com",
        require_approval: "never",
      },
      { type: "image_generation", size: "1024x1024" },
      { type: "custom", name: "shell", format: { type: "text" } },
    ],
    tool_choice: { type: "function", name: "look_up" },
    parallel_tool_calls: true,
    text: {
      format: { type: "json_schema", name: "person", schema: person, strict: true },
      verbosity: "high",
    },
    reasoning: { effort: "xhigh", summary: "detailed" },
    truncation: "auto",
    metadata: { b: "2", a: "1" },
    store: false,
    background: false,
    user: "user-1",
    safety_identifier: "hash-1",
    prompt_cache_key: "cache-1",
    prompt: { id: "pmpt_1", version: "2", variables: { city: "Köln" } },
    conversation: "conv_1",
    service_tier: "priority",
  };
  if (stream)
    await drain(
      await client.responses.create({
        ...params,
        stream,
        stream_options: { include_obfuscation: false },
      }),
    );
  else await client.responses.create(params);
};
