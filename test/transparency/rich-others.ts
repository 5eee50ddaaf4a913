/** Rich requests of `@anthropic-ai/sdk` and `@google/genai`: every field that a direct route must carry. */
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI, HarmBlockThreshold, HarmCategory, ThinkingLevel, Type } from "@google/genai";
import { drain, person, picture, type Send } from "./rich.ts";

export const messages: Send = async (url, apiKey, model, stream) => {
  const client = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 });
  const cache_control = { type: "ephemeral", ttl: "1h" } as const;
  const params: Anthropic.Beta.Messages.MessageCreateParamsNonStreaming = {
    model,
    max_tokens: 5000,
    system: [{ type: "text", text: "Rules.", cache_control }],
    messages: [
      {
        role: "user",
        content: [
          {
            type: "image",
            source: { type: "base64", media_type: "image/png", data: picture },
            cache_control,
          },
          { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
          {
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
            title: "A",
            citations: { enabled: true },
          },
          {
            type: "document",
            source: { type: "text", media_type: "text/plain", data: "plain" },
            context: "none",
          },
          { type: "text", text: "Which?", cache_control: { type: "ephemeral" } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "c2ln" },
          { type: "redacted_thinking", data: "c2VjcmV0" },
          { type: "text", text: "I look." },
          { type: "tool_use", id: "toolu_1", name: "look_up", input: { z: 1, a: [] } },
          { type: "tool_use", id: "toolu_2", name: "look_up", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: [
              { type: "text", text: "one" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: picture } },
            ],
          },
          { type: "tool_result", tool_use_id: "toolu_2", is_error: true, content: "broke" },
        ],
      },
    ],
    tools: [
      {
        name: "look_up",
        description: "Looks up",
        input_schema: { ...person, type: "object" },
        strict: true,
        cache_control: { type: "ephemeral" },
      },
      {
        type: "web_search_20250305",
        name: "web_search",
        max_uses: 2,
        user_location: { type: "approximate", city: "Köln" },
      },
      { type: "bash_20250124", name: "bash" },
    ],
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
    thinking: { type: "enabled", budget_tokens: 2048 },
    stop_sequences: ["END", "\n\nHuman:", "a", "b", "c", "d"],
    metadata: { user_id: "user-1" },
    output_config: { effort: "high", format: { type: "json_schema", schema: person } },
    mcp_servers: [{ type: "url", url: "https://mcp.example.com", name: "docs" }],
    container: { id: "container_1" },
    context_management: {
      edits: [{ type: "clear_tool_uses_20250919", keep: { type: "tool_uses", value: 3 } }],
    },
    betas: ["context-management-2025-06-27", "mcp-client-2025-11-20"],
    service_tier: "standard_only",
    inference_geo: "eu",
  };
  if (stream) await drain(await client.beta.messages.create({ ...params, stream }));
  else await client.beta.messages.create(params);
};

export const google: Send = async (url, apiKey, model, stream) => {
  const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
  const params: Parameters<typeof models.generateContent>[0] = {
    model,
    contents: [
      {
        role: "user",
        parts: [
          { text: "See" },
          { inlineData: { mimeType: "image/png", data: picture } },
          {
            fileData: { mimeType: "video/mp4", fileUri: "https://example.com/files/v1" },
            videoMetadata: { fps: 2 },
          },
        ],
      },
      {
        role: "model",
        parts: [
          { text: "Hm.", thought: true, thoughtSignature: "c2ln" },
          {
            functionCall: { id: "fc_1", name: "look_up", args: { z: 1, a: 2 } },
            thoughtSignature: "c2ln",
          },
          { executableCode: { language: undefined, code: "1+1" } },
        ],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              id: "fc_1",
              name: "look_up",
              response: { output: { b: 1, a: null } },
            },
          },
        ],
      },
    ],
    config: {
      systemInstruction: { parts: [{ text: "Rules." }] },
      temperature: 1.5,
      topP: 0.9,
      topK: 40,
      candidateCount: 2,
      maxOutputTokens: 1000,
      stopSequences: ["a", "b", "c", "d", "e"],
      seed: 42,
      presencePenalty: 0.5,
      frequencyPenalty: -0.5,
      responseLogprobs: true,
      logprobs: 3,
      responseMimeType: "application/json",
      responseSchema: {
        type: Type.OBJECT,
        properties: { name: { type: Type.STRING, nullable: true } },
        propertyOrdering: ["name"],
      },
      thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.HIGH },
      safetySettings: [
        {
          category: HarmCategory.HARM_CATEGORY_HARASSMENT,
          threshold: HarmBlockThreshold.BLOCK_NONE,
        },
      ],
      tools: [
        {
          functionDeclarations: [
            {
              name: "look_up",
              description: "Looks up",
              parameters: { type: Type.OBJECT, properties: { q: { type: Type.STRING } } },
            },
            {
              name: "any",
              parametersJsonSchema: {
                ...person,
                $schema: "http://json-schema.org/draft-07/schema#",
              },
            },
          ],
        },
        { googleSearch: {} },
        { codeExecution: {} },
        { urlContext: {} },
      ],
      toolConfig: {
        functionCallingConfig: { mode: "ANY" as never, allowedFunctionNames: ["look_up"] },
        retrievalConfig: { languageCode: "de" },
      },
      cachedContent: "cachedContents/1",
      responseModalities: ["TEXT"],
      serviceTier: "flex" as never,
    },
  };
  if (stream) await drain(await models.generateContentStream(params));
  else await models.generateContent(params);
};
