/** The model lists in the OpenAPI document. Requirements: MODELS. */
import { Type } from "../../base/json-schema.ts";
import { callEndpoints } from "../../catalog/index.ts";
import { anyCredential } from "./components.ts";
import { oneOf, ref, usd } from "../shapes/schema.ts";
import { jsonContent, requestIdHeaders, type Node, type Operation, type Part } from "./document.ts";
import { errorResponses, readingCodes, type ErrorStyle } from "./errors.ts";

const domain = Type.Object(
  {
    type: oneOf("enum", "integer", "number", "boolean", "string", "object", "array"),
    values: Type.Optional(Type.Array(Type.Unsafe({ type: ["string", "number"] }))),
    min: Type.Optional(
      Type.Number({ description: "For arrays, the number of items; for texts, of characters." }),
    ),
    max: Type.Optional(Type.Number()),
    default: Type.Optional(Type.Unsafe({})),
    pattern: Type.Optional(Type.String()),
    multiple_of: Type.Optional(Type.Number()),
  },
  { description: "The values a parameter takes." },
);

const model = Type.Object({
  id: Type.String({ examples: ["sandbox/chat"] }),
  object: Type.Literal("model"),
  created: Type.Integer({ description: "Unix time in seconds." }),
  owned_by: Type.String(),
  name: Type.String(),
  description: Type.String(),
  context_length: Type.Integer({
    description: "Tokens, input and output together; 0 if the model does not use tokens.",
  }),
  max_output_tokens: Type.Integer({ description: "0 for a model without text output." }),
  architecture: Type.Object({
    input_modalities: Type.Array(Type.String()),
    output_modalities: Type.Array(Type.String()),
  }),
  endpoints: Type.Array(oneOf(...callEndpoints), {
    description: "The endpoints that answer for this model.",
  }),
  supported_parameters: Type.Record(Type.String(), domain, {
    description:
      "The parameters of the model, by their chat-completions names. Parameters of embedding, image and video models have the names of their own endpoints.",
  }),
  pricing: Type.Array(
    Type.Object({
      billable: Type.String({ examples: ["input_tokens"] }),
      unit: Type.String({ examples: ["million_tokens"] }),
      price_usd: usd("USD per unit."),
      when: Type.Optional(
        Type.Record(Type.String(), Type.String(), {
          description:
            "The tier of the price: a resolution, or calls with more input than `input_tokens_above`. All tokens of such a call have this price. `hours_utc`: calls that begin in these hours, on `days` if it is there, and not on the days in `except`. `cache_type`: cache reads that the answer of the vendor tells as such. `reasoning`: all output of calls that reasoned. The last matching row applies.",
          examples: [
            { resolution: "480p" },
            { input_tokens_above: "200000" },
            { hours_utc: "01:00-04:00,06:00-10:00", days: "mon,tue,wed,thu,fri" },
          ],
        }),
      ),
    }),
  ),
  providers: Type.Array(
    Type.Object({
      id: Type.String({ description: "The name for the suffix `:provider`." }),
      supply_tier: oneOf("official", "partner", "community"),
      supports_streaming: Type.Boolean(),
    }),
  ),
});

const googleModel = Type.Object({
  name: Type.String({ description: "`models/` and the id.", examples: ["models/sandbox/chat"] }),
  version: Type.String({ description: "Always empty: the id names the version." }),
  displayName: Type.String(),
  description: Type.String(),
  inputTokenLimit: Type.Integer(),
  outputTokenLimit: Type.Integer(),
  supportedGenerationMethods: Type.Array(Type.String()),
});

const aboutLists =
  "With a key: the models that the key can call, by its allowlist and its routing. Without a key: every model. A wrong key is refused.";

const asGoogle =
  "Requests with `x-goog-api-key` or `x-goog-api-client`, as Google's SDKs send, get the shape of `/v1beta/models`.";

const asAnthropic =
  "For requests with `anthropic-version`, as Anthropic's SDKs send, models also have `type`, `display_name`, `created_at`, `max_input_tokens`, `max_tokens`, `lifecycle` and `retires_at`. A list also has `has_more`, `first_id` and `last_id`. Errors have the shape of `/v1/messages`.";

const modelId = (example: string): Node => ({
  name: "id",
  in: "path",
  required: true,
  description: "`vendor/model`. Write the slash as `/` or `%2F`.",
  schema: Type.String(),
  example,
});

interface Reading {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly schema: string;
  readonly style: ErrorStyle;
  /** Set for the operation on one model instead of the list. */
  readonly idExample?: string;
}

function reading({ operationId, summary, style, idExample, ...options }: Reading): Operation {
  return {
    operationId,
    tags: ["Models"],
    summary,
    description: options.description ?? aboutLists,
    security: [{}, ...anyCredential],
    ...(idExample !== undefined && { parameters: [modelId(idExample)] }),
    responses: {
      200: {
        description: idExample === undefined ? "The models." : "The model.",
        headers: requestIdHeaders(style),
        content: jsonContent(options.schema),
      },
      ...errorResponses(style, [
        ...readingCodes,
        ...(idExample === undefined ? [] : (["model_not_found"] as const)),
      ]),
    },
  };
}

export const models: Part = {
  paths: {
    "/v1/models": {
      get: reading({
        operationId: "listModels",
        summary: "The models you can call",
        description: `${aboutLists} ${asGoogle} ${asAnthropic}`,
        schema: "ModelList",
        style: "chat",
      }),
    },
    "/v1/models/{id}": {
      get: reading({
        operationId: "getModel",
        summary: "One model",
        description: `${aboutLists} ${asGoogle} ${asAnthropic}`,
        schema: "Model",
        style: "chat",
        idExample: "sandbox/chat",
      }),
    },
    "/v1beta/models": {
      get: reading({
        operationId: "listGoogleModels",
        summary: "The models you can call, as the generateContent protocol lists them",
        schema: "GoogleModelList",
        style: "generate_content",
      }),
    },
    "/v1beta/models/{id}": {
      get: reading({
        operationId: "getGoogleModel",
        summary: "One model, as the generateContent protocol shows it",
        schema: "GoogleModel",
        style: "generate_content",
        idExample: "sandbox/generate-content",
      }),
    },
  },
  schemas: {
    Model: model,
    ModelList: Type.Object({ object: Type.Literal("list"), data: Type.Array(ref("Model")) }),
    GoogleModel: googleModel,
    GoogleModelList: Type.Object({ models: Type.Array(ref("GoogleModel")) }),
  },
};
