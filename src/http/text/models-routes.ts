/**
 * `GET /v1/models`, one model by id, and the same in the generateContent shape: under `/v1beta`, and for Google's SDKs.
 * MODELS rows. The only endpoint that also answers without a key (AUTH-06); a wrong key is still refused.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { GatewayError } from "../../base/errors.ts";
import { findModel, listModels } from "../../calls/index.ts";
import type { Caller } from "../../tenancy/index.ts";
import { credentialOf, hasCredential } from "../callers/credential.ts";
import { asksAsGoogle } from "../callers/google-caller.ts";
import { modelPathTail } from "./model-path.ts";
import type { HttpServices } from "../services.ts";

/** Adds the model lists. */
export function registerModels(app: FastifyInstance, services: HttpServices): void {
  const { authenticator, text } = services;
  const callerOf = async (request: FastifyRequest): Promise<Caller | undefined> =>
    hasCredential(request)
      ? authenticator.authenticate(credentialOf(request), { fresh: true })
      : undefined;

  const list = async (request: FastifyRequest) => {
    const models = listModels(text.catalog(), await callerOf(request));
    return asksAsGoogle(request.raw)
      ? { models: models.map(geminiModel) }
      : { object: "list", data: models };
  };
  const one = async (request: FastifyRequest) => {
    const model = oneModel(services, request, await callerOf(request));
    return asksAsGoogle(request.raw) ? geminiModel(model) : model;
  };
  for (const version of ["v1", "v1beta"]) {
    app.get(`/${version}/models`, list);
    app.get(`/${version}/models/*`, one);
  }
}

type ListedModel = ReturnType<typeof listModels>[number];

function oneModel(
  services: HttpServices,
  request: FastifyRequest,
  caller: Caller | undefined,
): ListedModel {
  const id = modelPathTail(request);
  const model = findModel(services.text.catalog(), caller, id);
  if (!model)
    throw new GatewayError(
      "model_not_found",
      `The model "${id.slice(0, 200)}" does not exist for this key.`,
    );
  return model;
}

function geminiModel(model: ListedModel) {
  return {
    name: `models/${model.id}`,
    displayName: model.name,
    description: model.description,
    inputTokenLimit: model.context_length,
    outputTokenLimit: model.max_output_tokens,
    supportedGenerationMethods: model.endpoints.some((endpoint) => endpoint === "generate_content")
      ? ["generateContent", "countTokens"]
      : [],
  };
}
