/** The names the google-like vendor knows; any other name in its place is refused. */

export const bodyFields: ReadonlySet<string> = new Set([
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "safetySettings",
  "generationConfig",
  "cachedContent",
  "serviceTier",
  "store",
  "labels",
  "model",
]);

export const configFields: ReadonlySet<string> = new Set([
  "temperature",
  "topP",
  "topK",
  "candidateCount",
  "maxOutputTokens",
  "stopSequences",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "responseFormat",
  "responseModalities",
  "responseLogprobs",
  "logprobs",
  "mediaResolution",
  "speechConfig",
  "imageConfig",
  "thinkingConfig",
  "audioTimestamp",
  "enableEnhancedCivicAnswers",
]);

/** Of these a part has exactly one. */
export const partData: readonly string[] = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];

export const partFields: ReadonlySet<string> = new Set([
  ...partData,
  "thought",
  "thoughtSignature",
  "videoMetadata",
  "mediaResolution",
  "partMetadata",
]);

/** The subset of OpenAPI that `parameters` and `responseSchema` are written in. */
export const schemaFields: ReadonlySet<string> = new Set([
  "anyOf",
  "default",
  "description",
  "enum",
  "example",
  "format",
  "items",
  "maxItems",
  "maxLength",
  "maxProperties",
  "maximum",
  "minItems",
  "minLength",
  "minProperties",
  "minimum",
  "nullable",
  "pattern",
  "properties",
  "propertyOrdering",
  "required",
  "title",
  "type",
]);
