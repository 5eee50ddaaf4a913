/** Schema of the generateContent request. Unknown fields pass to the upstream. TXT-22. Each field is accepted in both spellings. */
import { Type, type TSchema } from "../../base/json-schema.ts";
import { anyObject, nullable, oneOf } from "../wire-check.ts";
import { snakeName } from "../../base/casing.ts";

/** An object whose optional fields are accepted in camelCase and snake_case. */
function fields(optional: Record<string, TSchema>, required: Record<string, TSchema> = {}) {
  const properties: Record<string, TSchema> = { ...required };
  for (const [name, schema] of Object.entries(optional)) {
    properties[name] = nullable(schema);
    properties[snakeName(name)] = nullable(schema);
  }
  return Type.Object(properties);
}

const text = Type.String();

/** A list, or its only item (lists.ts). Errors name the list. */
const some = (item: TSchema, options: { minItems?: number } = {}) =>
  Type.Union([item, Type.Array(item, options)]);

/** A name, or its number: the vendor's server reads both, and SDKs that are generated from its definitions send numbers by REST. */
const named = (name: TSchema, maximum?: number) =>
  Type.Union([Type.Integer({ minimum: 0, ...(maximum === undefined ? {} : { maximum }) }), name]);

const media = {
  inlineData: fields({ mimeType: text, data: text }),
  fileData: fields({ mimeType: text, fileUri: text }),
};

const part = fields({
  text,
  thought: Type.Boolean(),
  thoughtSignature: text,
  ...media,
  functionCall: fields({ id: text, args: anyObject }, { name: text }),
  functionResponse: fields({
    id: text,
    name: text,
    response: anyObject,
    parts: some(fields(media)),
  }),
});

const content = fields({ role: oneOf("user", "model", "function"), parts: some(part) });

/** The role of a system instruction is ignored; some callers send a bare string. */
const systemInstruction = Type.Union([text, fields({ parts: some(part) })]);

const functionDeclaration = fields(
  { description: text, parameters: anyObject, parametersJsonSchema: anyObject },
  { name: Type.String({ minLength: 1 }) },
);

/** The vendor takes them in small letters too, as LangChain for JavaScript and Koog write them. */
const modes = ["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"];

const toolConfig = fields({
  functionCallingConfig: fields({
    mode: named(
      Type.Union([oneOf(...modes.map((mode) => mode.toLowerCase())), oneOf(...modes)]),
      4,
    ),
    allowedFunctionNames: Type.Array(text),
  }),
});

const penalty = Type.Number({ minimum: -2, maximum: 2 });

const generationConfig = fields({
  temperature: Type.Number({ minimum: 0, maximum: 2 }),
  topP: Type.Number({ minimum: 0, maximum: 1 }),
  topK: Type.Number({ minimum: 0 }),
  candidateCount: Type.Integer({ minimum: 1, maximum: 8 }),
  maxOutputTokens: Type.Integer({ minimum: 1 }),
  stopSequences: Type.Array(text, { maxItems: 5 }),
  seed: Type.Integer(),
  presencePenalty: penalty,
  frequencyPenalty: penalty,
  responseMimeType: text,
  responseSchema: anyObject,
  responseModalities: Type.Array(named(text)),
  responseLogprobs: Type.Boolean(),
  logprobs: Type.Integer({ minimum: 0, maximum: 20 }),
  thinkingConfig: fields({
    includeThoughts: Type.Boolean(),
    thinkingBudget: Type.Integer({ minimum: -1 }),
    thinkingLevel: named(text),
  }),
});

/** The body of `:generateContent` and `:streamGenerateContent`. */
export const generateContentRequest = fields(
  {
    systemInstruction,
    tools: some(fields({ functionDeclarations: some(functionDeclaration) })),
    toolConfig,
    generationConfig,
    safetySettings: some(anyObject),
    cachedContent: text,
    store: Type.Boolean(),
  },
  { contents: some(content, { minItems: 1 }) },
);
