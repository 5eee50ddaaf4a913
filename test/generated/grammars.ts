/**
 * Requests of messages and generateContent as schemas, written from the wire documents. They are complete: a field that is in
 * none of them is an error.
 */
import type { Schema, Schemas } from "./arbitrary.ts";

const text = { type: "string" };
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const list = (items: Schema, more: object = {}): Schema => ({ type: "array", items, ...more });
const one = (...values: unknown[]): Schema => ({ enum: values });
const any = { type: "object", additionalProperties: true };
const of = (properties: Record<string, Schema>, ...required: string[]): Schema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const or = (...anyOf: Schema[]): Schema => ({ anyOf });
const id = { type: "string", pattern: "^[a-zA-Z0-9_-]+$", minLength: 1 };

const cached = { cache_control: ref("CacheControl") };

/** The messages request. */
export const messagesSchemas: Schemas = {
  Request: of(
    {
      model: text,
      max_tokens: { type: "integer", minimum: 1, maximum: 32_000 },
      messages: list(ref("Message"), { minItems: 1 }),
      system: or(text, list(ref("Text"))),
      stop_sequences: list(text),
      stream: { type: "boolean" },
      temperature: { type: "number", minimum: 0, maximum: 1 },
      top_p: { type: "number", minimum: 0, maximum: 1 },
      top_k: { type: "integer", minimum: 0, maximum: 500 },
      tools: list(ref("Tool")),
      tool_choice: or(
        of({ type: one("auto", "any"), disable_parallel_tool_use: { type: "boolean" } }, "type"),
        of(
          { type: one("tool"), name: text, disable_parallel_tool_use: { type: "boolean" } },
          "type",
          "name",
        ),
        of({ type: one("none") }, "type"),
      ),
      thinking: or(
        of(
          {
            type: one("enabled"),
            budget_tokens: { type: "integer", minimum: 1024, maximum: 32_000 },
            display: one("summarized", "omitted"),
          },
          "type",
          "budget_tokens",
        ),
        of({ type: one("adaptive"), display: one("summarized", "omitted") }, "type"),
        of({ type: one("disabled", "between_tools") }, "type"),
      ),
      output_config: of({
        effort: one("low", "medium", "high", "xhigh", "max"),
        format: of({ type: one("json_schema"), schema: any }, "type", "schema"),
      }),
      metadata: of({ user_id: text }),
      ...cached,
    },
    "model",
    "max_tokens",
    "messages",
  ),
  CacheControl: of({ type: one("ephemeral"), ttl: one("5m", "1h") }, "type"),
  Message: of(
    { role: one("user", "assistant"), content: or(text, list(ref("Block"), { minItems: 1 })) },
    "role",
    "content",
  ),
  Block: or(
    ref("Text"),
    ref("Image"),
    ref("Document"),
    ref("ToolResult"),
    ref("Thinking"),
    ref("RedactedThinking"),
    ref("ToolUse"),
  ),
  Text: of({ type: one("text"), text: { ...text, minLength: 1 }, ...cached }, "type", "text"),
  Image: of({ type: one("image"), source: ref("ImageSource"), ...cached }, "type", "source"),
  ImageSource: or(
    of(
      {
        type: one("base64"),
        media_type: one("image/jpeg", "image/png", "image/gif", "image/webp"),
        data: text,
      },
      "type",
      "media_type",
      "data",
    ),
    of({ type: one("url"), url: { ...text, format: "uri" } }, "type", "url"),
    of({ type: one("file"), file_id: text }, "type", "file_id"),
  ),
  Document: of(
    {
      type: one("document"),
      source: or(
        of(
          { type: one("base64"), media_type: one("application/pdf"), data: text },
          "type",
          "media_type",
          "data",
        ),
        of(
          { type: one("text"), media_type: one("text/plain"), data: text },
          "type",
          "media_type",
          "data",
        ),
        of({ type: one("url"), url: { ...text, format: "uri" } }, "type", "url"),
      ),
      title: text,
      context: text,
      citations: of({ enabled: { type: "boolean" } }),
      ...cached,
    },
    "type",
    "source",
  ),
  ToolResult: of(
    {
      type: one("tool_result"),
      tool_use_id: id,
      content: or(text, list(or(ref("Text"), ref("Image")))),
      is_error: { type: "boolean" },
      ...cached,
    },
    "type",
    "tool_use_id",
  ),
  Thinking: of(
    { type: one("thinking"), thinking: text, signature: text },
    "type",
    "thinking",
    "signature",
  ),
  RedactedThinking: of({ type: one("redacted_thinking"), data: text }, "type", "data"),
  ToolUse: of(
    { type: one("tool_use"), id, name: ref("ToolName"), input: any, ...cached },
    "type",
    "id",
    "name",
    "input",
  ),
  ToolName: { type: "string", pattern: "^[a-zA-Z0-9_-]{1,128}$", maxLength: 128 },
  Tool: of(
    {
      name: ref("ToolName"),
      description: text,
      input_schema: { type: "object", required: ["type"], additionalProperties: true },
      strict: { type: "boolean" },
      type: one("custom"),
      ...cached,
    },
    "name",
    "input_schema",
  ),
};

const content = (role: Schema): Schema =>
  of({ role, parts: list(ref("Part"), { minItems: 1 }) }, "parts");

/** The generateContent request. */
export const generateContentSchemas: Schemas = {
  Request: of(
    {
      contents: list(ref("Content"), { minItems: 1 }),
      systemInstruction: ref("SystemInstruction"),
      tools: list(of({ functionDeclarations: list(ref("Declaration"), { minItems: 1 }) })),
      toolConfig: of({
        functionCallingConfig: of({
          mode: one("AUTO", "ANY", "NONE", "VALIDATED"),
          allowedFunctionNames: list(text),
        }),
      }),
      safetySettings: list(
        of({
          category: one("HARM_CATEGORY_HATE_SPEECH"),
          threshold: one("BLOCK_NONE", "BLOCK_ONLY_HIGH"),
        }),
      ),
      generationConfig: ref("Config"),
      cachedContent: text,
      serviceTier: text,
      store: { type: "boolean" },
      labels: { type: "object", additionalProperties: text },
    },
    "contents",
  ),
  Content: content(one("user", "model")),
  SystemInstruction: of(
    { role: one("user", "system"), parts: list(ref("TextPart"), { minItems: 1 }) },
    "parts",
  ),
  Part: or(
    ref("TextPart"),
    of(
      { inlineData: of({ mimeType: ref("MimeType"), data: text }, "mimeType", "data") },
      "inlineData",
    ),
    of(
      { fileData: of({ mimeType: ref("MimeType"), fileUri: ref("FileUri") }, "fileUri") },
      "fileData",
    ),
    ref("CallPart"),
    ref("ResultPart"),
    of(
      { executableCode: of({ language: one("PYTHON"), code: text }, "language", "code") },
      "executableCode",
    ),
    of(
      { codeExecutionResult: of({ outcome: one("OUTCOME_OK"), output: text }, "outcome") },
      "codeExecutionResult",
    ),
  ),
  TextPart: of({ text, thought: { type: "boolean" }, thoughtSignature: text }, "text"),
  CallPart: of(
    {
      functionCall: of({ id: text, name: ref("FunctionName"), args: any }, "name"),
      thoughtSignature: text,
    },
    "functionCall",
  ),
  ResultPart: of(
    {
      functionResponse: of(
        {
          id: text,
          name: ref("FunctionName"),
          response: any,
          parts: list(of({ inlineData: of({ mimeType: ref("MimeType"), data: text }) })),
        },
        "name",
        "response",
      ),
    },
    "functionResponse",
  ),
  MimeType: { type: "string", pattern: "^[a-z]+/[a-z0-9.+-]+$" },
  FileUri: { type: "string", format: "uri" },
  FunctionName: { type: "string", pattern: "^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$", maxLength: 128 },
  Declaration: of(
    {
      name: ref("FunctionName"),
      description: text,
      parameters: any,
      parametersJsonSchema: any,
      response: any,
      responseJsonSchema: any,
    },
    "name",
  ),
  Config: of({
    temperature: { type: "number", minimum: 0, maximum: 2 },
    topP: { type: "number", minimum: 0, maximum: 1 },
    topK: { type: "integer", minimum: 0, maximum: 500 },
    candidateCount: { type: "integer", minimum: 1, maximum: 8 },
    maxOutputTokens: { type: "integer", minimum: 1, maximum: 32_000 },
    stopSequences: list(text, { maxItems: 5 }),
    seed: { type: "integer" },
    presencePenalty: { type: "number", minimum: -2, maximum: 2 },
    frequencyPenalty: { type: "number", minimum: -2, maximum: 2 },
    responseMimeType: one("text/plain", "application/json", "text/x.enum"),
    responseSchema: any,
    responseJsonSchema: any,
    responseModalities: list(one("TEXT", "IMAGE", "AUDIO")),
    responseLogprobs: { type: "boolean" },
    logprobs: { type: "integer", minimum: 0, maximum: 20 },
    mediaResolution: one("MEDIA_RESOLUTION_LOW", "MEDIA_RESOLUTION_HIGH"),
    speechConfig: any,
    imageConfig: of({ aspectRatio: one("1:1", "16:9"), imageSize: one("1K", "2K", "4K") }),
    thinkingConfig: of({
      includeThoughts: { type: "boolean" },
      thinkingBudget: { type: "integer", minimum: -1, maximum: 32_000 },
      thinkingLevel: one("MINIMAL", "LOW", "MEDIUM", "HIGH"),
    }),
  }),
};
